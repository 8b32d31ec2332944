package providertest

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// Connect starts a server that behaves as s says, in the vendor's wire format, and returns the provider
// under test, connected to it. It stops the server in t.Cleanup. The server answers any number of
// requests, also concurrently, all in the same way.
//
// If the vendor's format cannot express a scenario, Connect calls t.Skip with the reason.
type Connect func(t *testing.T, s Scenario) provider.Provider

// Scenario is the behaviour of the vendor. Zero values mean nothing special.
type Scenario struct {
	Name string
	// Key is the credential for the provider. The server repeats it in the message of each failure, as
	// some vendors do. No error may show it, in any field: what a Code has to match in a table of the adapter's is not its place.
	Key string

	// Reply is the text, in the pieces in which the server streams and flushes it.
	Reply []string
	// Hold, if not nil, stops the server after the first piece until Hold is closed or the request is
	// canceled.
	Hold <-chan struct{}
	// Cut ends the stream after the pieces, cleanly for the transport, but without the signals by which
	// the vendor says that a reply is complete.
	Cut bool

	Stop  provider.StopReason
	Calls []provider.ToolCall
	Usage provider.Usage
	Model string // as the vendor reports it

	// Thoughts are the text of the model's thoughts, in the pieces in which the server streams it before Reply. A server
	// whose vendor sends none ignores it.
	Thoughts []string
	// Citations are the sources that the server names for places of Reply. A server whose vendor names none ignores them.
	Citations []provider.Citation

	// Models are the models that the server knows, for a [provider.Checker]. A server without information
	// about models ignores it.
	Models []string

	// Fail is the kind of failure that the server signals in place of a reply or, if Reply is not empty,
	// after its pieces. KindInvalidResponse means a complete reply without any text.
	Fail provider.Kind
	// RetryAfter is the wait that the server asks for with the failure, in whole seconds.
	RetryAfter time.Duration

	// NoSystem lets the server refuse each request with a system prompt, with status 400 and in the vendor's words, as for a model
	// without a system role. A server whose vendor has no such models ignores it.
	NoSystem bool
	// Alternate lets the server refuse each request for which [Sent.Alternates] is false, with status 400 and in the vendor's words, as
	// chat templates do. A server whose vendor has no such models ignores it.
	Alternate bool

	// Sent, if not nil, is called by the server with each request as it read it, before it answers. It is
	// safe for concurrent use.
	Sent func(Sent)
}

// Sent is a request as it reached the vendor, read from its wire format.
type Sent struct {
	Model       string
	System      string // system prompts, wherever the vendor's format has them
	Turns       []Turn // the rest of the conversation, in order
	MaxTokens   int
	Temperature *float64 // nil: not sent
	Schema      bool     // a schema for the reply was sent
	Tools       []string // names of the tools offered
	// Body and Header are the whole request, with which the suite checks what a request's options and parts add to it.
	// Without a Body, that is not checked.
	Body   json.RawMessage
	Header http.Header
	// Calls are the tool calls that the vendor takes for the model's own, in order. Results are the
	// answers of the tools. A server that reads neither leaves both empty, and they are not checked. An
	// ID that the vendor's format does not have is empty. Error stays false if the vendor's format has no
	// field for it.
	Calls   []provider.ToolCall
	Results []provider.ToolResult
}

// Alternates reports whether the user and the assistant take turns, and the user begins.
func (s *Sent) Alternates() bool {
	want := provider.RoleUser
	for _, t := range s.Turns {
		if t.Role != want {
			return false
		}
		if want = provider.RoleUser; t.Role == want {
			want = provider.RoleAssistant
		}
	}
	return true
}

// Direct returns what reaches a provider that has no wire format: the request unchanged.
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
		if req.Own(m) {
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

// Turn is one message of a conversation. If a vendor requires alternating roles, several messages of the
// same role may arrive as one.
type Turn struct {
	Role provider.Role // user or assistant
	Text string
}
