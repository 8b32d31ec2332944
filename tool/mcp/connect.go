package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Connect begins a session with a server. The server may list and run its tools, and that is all: it is told that
// nobody here has roots, samples a model, or answers its questions. The context bounds the beginning alone; the
// session lasts until its Close, which the caller owes.
func Connect(ctx context.Context, transport sdk.Transport) (*sdk.ClientSession, error) {
	client := sdk.NewClient(&sdk.Implementation{Name: "debate", Version: "0"}, &sdk.ClientOptions{
		Capabilities:   &sdk.ClientCapabilities{},
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true}, // so that a question comes to Use, which refuses it
	})
	return client.Connect(ctx, transport, nil)
}
