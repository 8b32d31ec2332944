package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Connect begins a session with a server. The server may list and run its tools, and nothing else: the
// client declares no roots, no model to sample from, and nobody to answer questions. ctx bounds only the
// beginning. The session lasts until its Close, which the caller must call.
func Connect(ctx context.Context, transport sdk.Transport) (*sdk.ClientSession, error) {
	client := sdk.NewClient(&sdk.Implementation{Name: "debate", Version: "0"}, &sdk.ClientOptions{
		Capabilities:   &sdk.ClientCapabilities{},
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true}, // a question then arrives in Use, which refuses it
	})
	return client.Connect(ctx, transport, nil)
}
