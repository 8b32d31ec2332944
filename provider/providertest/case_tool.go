package providertest

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/agonist-dev/debate/provider"
)

func twoCalls() []provider.ToolCall {
	return []provider.ToolCall{
		{ID: "call_a", Name: lookup, Arguments: json.RawMessage(`{"word":"kerb"}`)},
		{ID: "call_b", Name: lookup, Arguments: json.RawMessage(`{"word":"toll"}`)},
	}
}

func textBeforeTools(x *exam) {
	req := request()
	req.Tools = []provider.Tool{tool()}
	r := x.succeed(x.open(Scenario{
		Name: "text before tools", Reply: []string{"Let me ", "see."}, Calls: twoCalls(), Stop: provider.StopTool,
	}), req)
	if r == nil {
		return
	}
	if r.Text != "Let me see." {
		x.errorf("the text beside the tool calls is %q", r.Text)
	}
	if len(r.Calls) != 2 || r.Stop != provider.StopTool {
		x.errorf("there are %d tool calls and the stop reason %q", len(r.Calls), r.Stop)
	}
}

const (
	found  = "A kerb is the edge of a pavement."
	failed = "The dictionary is closed."
)

// withHistory returns a request whose speaker called tools and got answers, next to another speaker who
// did.
func withHistory(calls []provider.ToolCall) *provider.Request {
	req := request()
	theirs := provider.ToolCall{ID: "call_z", Name: lookup, Arguments: json.RawMessage(`{"word":"their own affair"}`)}
	req.Messages = []provider.Message{
		{Text: "The topic is cars in cities."},
		{Speaker: ben, Fence: "f7Qx", Text: "I look it up.", ToolCalls: []provider.ToolCall{theirs}},
		{Speaker: ben, ToolResult: &provider.ToolResult{ID: theirs.ID, Text: "An answer for Ben alone."}},
		{Speaker: ada, Text: "Let me see.", ToolCalls: calls},
	}
	for i, text := range []string{found, failed} {
		if i < len(calls) {
			result := &provider.ToolResult{ID: calls[i].ID, Text: text, Error: text == failed}
			req.Messages = append(req.Messages, provider.Message{Speaker: ada, ToolResult: result})
		}
	}
	return req
}

// toolResults sends tool calls back as the provider returned them, with the answers of the tools.
func toolResults(x *exam) {
	var mu sync.Mutex
	var last Sent
	p := x.open(Scenario{Name: "tool results", Calls: twoCalls(), Stop: provider.StopTool, Sent: func(s Sent) {
		mu.Lock()
		defer mu.Unlock()
		last = s
	}})
	first := request()
	first.Tools = []provider.Tool{tool()}
	r := x.succeed(p, first)
	if r == nil || len(r.Calls) != 2 {
		return // the case "tools" reports that
	}
	if x.succeed(p, x.offering(withHistory(r.Calls), tool())) == nil {
		return
	}
	mu.Lock()
	defer mu.Unlock()
	if last.Calls == nil && last.Results == nil {
		x.t.Log("not checked: the server reads neither tool calls nor their results")
		return
	}
	x.wantCalls(last.Calls, r.Calls)
	x.wantResults(last)
}

func (x *exam) wantCalls(got, want []provider.ToolCall) {
	if len(got) != len(want) {
		x.errorf("%d tool calls went back, want %d: the speaker's own", len(got), len(want))
		return
	}
	for i := range want {
		if got[i].Name != want[i].Name || !sameJSON(got[i].Arguments, want[i].Arguments) {
			x.errorf("tool call %d went back as %s(%s)", i, got[i].Name, got[i].Arguments)
		}
		if len(want[i].Opaque) > 0 && !sameJSON(got[i].Opaque, want[i].Opaque) {
			x.errorf("the Opaque of tool call %d went back as %s, want %s", i, got[i].Opaque, want[i].Opaque)
		}
	}
}

func (x *exam) wantResults(sent Sent) {
	if len(sent.Results) != 2 {
		x.errorf("%d tool results were sent, want 2: those of the speaker's own calls", len(sent.Results))
		return
	}
	for i, want := range []string{found, failed} {
		got := sent.Results[i]
		if !strings.Contains(got.Text, want) {
			x.errorf("tool result %d is %q, want %q", i, got.Text, want)
		}
		if i < len(sent.Calls) && got.ID != sent.Calls[i].ID {
			x.errorf("tool result %d is for the call %q, want %q", i, got.ID, sent.Calls[i].ID)
		}
	}
	if got := sent.Results[1]; !got.Error && strings.TrimSpace(got.Text) == failed {
		x.errorf("that a tool failed was not sent")
	}
	if sent.Results[0].Error {
		x.errorf("a tool's answer was sent as a failure")
	}
}

// foreignCalls sends calls with the Opaque of another vendor's adapter.
func foreignCalls(x *exam) {
	calls := twoCalls()
	calls[0].Opaque = json.RawMessage(`{"host":"another.test","kept":{"signature":"c2VhbGVk"}}`)
	calls[1].Opaque = json.RawMessage(`["sealed",1]`)
	s := Scenario{Name: "sealed calls of another vendor", Reply: []string{yes}}
	if r := x.succeed(x.open(s), x.offering(withHistory(calls), tool())); r != nil && r.Text != yes {
		x.errorf("the text is %q", r.Text)
	}
}
