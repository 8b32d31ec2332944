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

	// Models are the models that the server knows, for a provider that is a [provider.Checker]. A server
	// that tells nothing about models leaves it out.
	Models []string
	// Tokens is what the server answers when it is asked to count, for a [provider.TokenCounter].
	Tokens int
	// Vectors is what the server answers to texts, one for each, for a [provider.Embedder].
	Vectors [][]float32

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
	// Calls are the tool calls that the vendor takes for the model's own, in order, and Results what their
	// tools answered. A server that reads neither is not asked about them. An ID that the vendor does not
	// have is empty; Error stays false if the vendor has no mark for it.
	Calls   []provider.ToolCall
	Results []provider.ToolResult
}

// Direct is what reaches a provider that has no wire format: the request as it is.
func Direct(req *provider.Request) Sent {
	s := Sent{Model: req.Model, System: req.System, MaxTokens: req.MaxTokens, Temperature: req.Temperature, Schema: req.Schema != nil}
	for role, text := range req.Chat() {
		if role != provider.RoleSystem {
			s.Turns = append(s.Turns, Turn{Role: role, Text: text})
		}
	}
	for _, t := range req.Tools {
		s.Tools = append(s.Tools, t.Name)
	}
	own := map[string]bool{}
	for i := range req.Messages {
		m := &req.Messages[i]
		if m.Speaker != "" && m.Speaker == req.Self {
			for _, c := range m.ToolCalls {
				own[c.ID] = true
				s.Calls = append(s.Calls, c)
			}
		}
		if m.ToolResult != nil && own[m.ToolResult.ID] {
			s.Results = append(s.Results, *m.ToolResult)
		}
	}
	return s
}

// Turn is one message of a conversation. A vendor that wants roles to alternate may get several
// messages of the same role as one.
type Turn struct {
	Role provider.Role // user or assistant
	Text string
}
