package providertest

import (
	"testing"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// Connect starts a server that behaves as s says, in the vendor's wire format, and yields the
// provider under test connected to it. It stops the server in t.Cleanup. The server answers any
// number of requests, also at once, all in the same way.
//
// A vendor that cannot say what a scenario asks for skips it: Connect calls t.Skip, with the reason.
type Connect func(t *testing.T, s Scenario) provider.Provider

// Scenario is what the vendor does. Its zero values mean nothing special.
type Scenario struct {
	Name string
	// Key is the credential to give to the provider. The server repeats it in the message of each
	// failure, as vendors have been seen to do; no error may show it.
	Key string

	// Reply is the text, in the pieces in which the server streams it, each flushed.
	Reply []string
	// Hold, if not nil, keeps the server from going on after the first piece until Hold is closed or
	// the request is given up.
	Hold <-chan struct{}
	// Cut ends the stream after the pieces, cleanly on the level of the transport but without the
	// signals by which the vendor says that a reply is complete.
	Cut bool

	Stop  provider.StopReason
	Calls []provider.ToolCall
	Usage provider.Usage
	Model string // as the vendor reports it

	// Fail is the kind of failure that the server signals: in place of a reply, or, if Reply is not
	// empty, after its pieces. KindInvalidResponse stands for a complete reply without any text.
	Fail provider.Kind
	// RetryAfter is what the server asks to wait beside the failure; whole seconds.
	RetryAfter time.Duration

	// Sent, if not nil, is to be called with each request as the server read it, before it answers.
	// It is safe for concurrent use.
	Sent func(Sent)
}

// Sent is a request as it reached the vendor, read back from the wire format.
type Sent struct {
	Model       string
	System      string // system prompts, wherever the vendor has them
	Turns       []Turn // the rest of the conversation, in order
	MaxTokens   int
	Temperature *float64 // nil: not sent
	Schema      bool     // the reply is to match a schema
	Tools       []string // names of the tools offered
}

// Turn is one message of a conversation. A vendor that wants roles to alternate may get several
// messages of the same role as one.
type Turn struct {
	Role provider.Role // user or assistant
	Text string
}
