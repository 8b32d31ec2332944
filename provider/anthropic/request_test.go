package anthropic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/anthropic"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

// talk is a request of a debate.
func talk() provider.Request {
	temperature := 0.0
	return provider.Request{
		ID: "r2.rebuttal.ada/1", Model: "claude-x", System: "You are Ada.", Self: "Ada",
		Messages: []provider.Message{
			{Text: "Topic: <cars> & cities."},
			{Speaker: "Ben", Fence: "f7Qx", Text: "Ban them."},
			{Speaker: "Ada", Text: "Price them."},
			{Speaker: "Cy", Text: "Both."},
		},
		Last: provider.Message{Text: "Rebut."}, MaxTokens: 3210, Temperature: &temperature,
	}
}

// toolTalk is a request after tools were called.
func toolTalk() provider.Request {
	return provider.Request{
		Model: "claude-x", Self: "Ada",
		Tools: []provider.Tool{
			{Name: "lookup", Description: "Looks up.", Parameters: json.RawMessage(`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}}}`)},
			{Name: "now"},
		},
		Messages: []provider.Message{
			{Text: "Topic."},
			{Speaker: "Ada", Text: "Let me see.", ToolCalls: []provider.ToolCall{
				{ID: "toolu_a", Name: "lookup", Arguments: json.RawMessage(`{"w":1}`), Opaque: json.RawMessage(`{"host":"example.com","kept":{"blocks":[{"thinking":"Hm, <a>.","signature":"EqQB=="},{"redacted":"EmwK"}]}}`)},
				{ID: "call/b", Name: "now", Opaque: json.RawMessage(`{"google":"sealed"}`)},
			}},
			{ToolResult: &provider.ToolResult{ID: "call/b", Text: "no clock", Error: true}},
			{Speaker: "Ben", Text: "Mine is hidden.", ToolCalls: []provider.ToolCall{{ID: "toolu_c", Name: "lookup"}}},
			{ToolResult: &provider.ToolResult{ID: "toolu_c", Text: "hidden"}},
			{ToolResult: &provider.ToolResult{ID: "toolu_a", Text: "found"}},
			{Speaker: "Ada", ToolCalls: []provider.ToolCall{
				{ID: "toolu_a", Name: "now", Arguments: json.RawMessage(`[1]`)}, {Name: "now", Arguments: json.RawMessage(`{`)},
			}},
			{ToolResult: &provider.ToolResult{ID: "toolu_a", Text: " "}},
		},
	}
}

func TestRequestBody(t *testing.T) {
	bare := provider.Request{Model: "claude-x", Last: provider.Message{Text: "Go."}}
	schema := bare
	schema.Schema = &provider.Schema{Name: "verdict", JSON: json.RawMessage(
		`{"type":"object","properties":{"reason":{"type":"string","minLength":1},"score":{"type":"integer","minimum":0},"also":{"oneOf":[{"type":"string"},{"type":"null"}]}},"required":["reason","score"]}`,
	)}
	loose := bare
	loose.Schema = &provider.Schema{Name: "table", JSON: json.RawMessage(`{"type":"object","additionalProperties":{"type":"number"}}`)}
	mine := bare
	mine.Self = "Ada"
	mine.Messages = []provider.Message{{Text: " \n"}, {Speaker: "Ada", Text: "As I said."}, {Speaker: "Ada", Text: "\t"}, {Speaker: "Ben", Text: "You did."}}
	onlyTools := bare
	onlyTools.Tools = []provider.Tool{{Name: "now"}, {Name: "later"}}

	tests := []struct {
		name string
		req  provider.Request
		set  func(p *anthropic.Provider)
	}{
		{"talk", talk(), nil},
		{"bare", bare, nil},
		{"no_cache", talk(), func(p *anthropic.Provider) { p.NoCache = true }},
		{"long_cache", talk(), func(p *anthropic.Provider) { p.LongCache = true }},
		{"own_words_first", mine, nil},
		{"tools", toolTalk(), nil},
		{"tools_without_system", onlyTools, nil},
		{"schema", schema, nil},
		{"schema_not_expressible", loose, nil},
		{"thinking_adaptive", talk(), func(p *anthropic.Provider) { p.AdaptiveThinking, p.ThinkingBudget, p.Effort = true, 2000, "low" }},
		{"thinking_budget", talk(), func(p *anthropic.Provider) { p.ThinkingBudget = 2000 }},
		{"thinking_least", talk(), func(p *anthropic.Provider) { p.ThinkingBudget = 1 }},
		{"thinking_too_much", talk(), func(p *anthropic.Provider) { p.ThinkingBudget = 3210 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, bodies := recording(t)
			if tt.set != nil {
				tt.set(p)
			}
			adaptertest.Answer(t, p, &tt.req)
			golden(t, "request/"+tt.name+".json", readable(t, (*bodies)[0]))
		})
	}
}

func TestRequestHeader(t *testing.T) {
	// What the environment says is for programs that use Anthropic's client.
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"} {
		t.Setenv(name, "sk-environment")
	}
	t.Setenv("ANTHROPIC_BASE_URL", "http://elsewhere.test")
	var header http.Header
	var uri string
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		header, uri = r.Header, r.Method+" "+r.URL.String()
		say(w)
	})
	p.BaseURL += "/gateway?tenant=1"
	p.Header = http.Header{"anthropic-beta": {"next"}}
	req := talk()
	adaptertest.Answer(t, p, &req)
	assert.Equal(t, "POST /gateway/v1/messages?tenant=1", uri)
	assert.Equal(t, []string{canary}, header["X-Api-Key"])
	assert.Empty(t, header["Authorization"])
	assert.Equal(t, "2023-06-01", header.Get("Anthropic-Version"))
	assert.Equal(t, "application/json", header.Get("Content-Type"))
	assert.Equal(t, "application/json", header.Get("Accept"))
	assert.Equal(t, "next", header.Get("Anthropic-Beta"))
	assert.Equal(t, req.ID, header.Get("X-Client-Request-Id"))
	assert.Empty(t, header.Get("Idempotency-Key"), "net/http would retry by itself")
}

// What only a caller can mend fails before anything is sent.
func TestUnwritableRequests(t *testing.T) {
	p, bodies := recording(t)
	req := request()
	req.Tools = []provider.Tool{{Name: "x", Parameters: json.RawMessage(`{"secret":"` + canary)}}
	_, _, err := ask(t, p, req)
	assert.True(t, failure(t, err, provider.KindValidation).NotSent)
	assert.Empty(t, *bodies)
}

// What the model thought and called comes back as it was, with what the tools answered.
func TestToolRoundTrip(t *testing.T) {
	p := played(ok + stream(
		block(0, `{"type":"thinking","thinking":"","signature":""}`,
			`{"type":"thinking_delta","thinking":"Which "}`, `{"type":"thinking_delta","thinking":"word? \u003c"}`, `{"type":"signature_delta","signature":"EqQBCkYI=="}`)+
			block(1, `{"type":"redacted_thinking","data":"EmwKAhgBEgy3va3p"}`)+
			text(2, "Let me ", "see.")+
			block(3, `{"type":"tool_use","id":"toolu_1","name":"lookup","input":{}}`, `{"type":"input_json_delta","partial_json":""}`, `{"type":"input_json_delta","partial_json":"{\"w\":"}`, `{"type":"input_json_delta","partial_json":"\"kerb\"}"}`)+
			block(4, `{"type":"thinking","thinking":"And now?","signature":"Sec"}`)+
			block(5, `{"type":"tool_use","id":"toolu_2","name":"now","input":{"zone":"UTC"}}`)+
			block(6, `{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}}`, `{"type":"input_json_delta","partial_json":"{\"q\":1}"}`),
		"tool_use"))
	r, chunks, err := ask(t, p, request())
	require.NoError(t, err)
	assert.Equal(t, "Let me see.", r.Text, "thoughts are no text")
	assert.Equal(t, []string{"Let me ", "see."}, chunks)
	assert.Equal(t, provider.StopTool, r.Stop)
	assert.Equal(t, provider.Usage{Input: 30, CachedInput: 7, CacheWrite: 3, Output: 9}, r.Usage)
	require.Len(t, r.Calls, 2)
	assert.JSONEq(t, `{"w":"kerb"}`, string(r.Calls[0].Arguments))
	assert.JSONEq(t, `{"zone":"UTC"}`, string(r.Calls[1].Arguments))
	assert.NotEmpty(t, r.Calls[0].Opaque)
	assert.NotEmpty(t, r.Calls[1].Opaque)

	back, bodies := recording(t)
	req := request()
	req.Messages = []provider.Message{
		{Text: "Topic."},
		{Speaker: "Ada", Text: r.Text, ToolCalls: r.Calls},
		{ToolResult: &provider.ToolResult{ID: r.Calls[1].ID, Text: "noon"}},
		{ToolResult: &provider.ToolResult{ID: r.Calls[0].ID, Text: "an edge", Error: true}},
	}
	adaptertest.Answer(t, back, req)
	golden(t, "request/tools_again.json", readable(t, (*bodies)[0]))

	back.BaseURL = "http://another.example.com" // its vendor may be another
	adaptertest.Answer(t, back, req)
	assert.Contains(t, string((*bodies)[1]), `"tool_use"`)
	for _, secret := range []string{"EqQBCkYI==", "EmwKAhgBEgy3va3p", "And now?"} {
		assert.Contains(t, string((*bodies)[0]), secret)
		assert.NotContains(t, string((*bodies)[1]), secret, "thoughts go back to their own server only")
	}
}

// With a budget for thinking, the last message that calls tools begins with a thought, or the request goes
// without thinking and without thoughts: the API refuses anything else.
func TestThoughtsComeFirst(t *testing.T) {
	own := json.RawMessage(`{"host":"example.com","kept":{"blocks":[{"thinking":"Hm.","signature":"c2ln"}]}}`)
	redacted := json.RawMessage(`{"host":"example.com","kept":{"blocks":[{"redacted":"EmwK"}]}}`)
	foreign := json.RawMessage(`{"host":"another.example.com","kept":{"blocks":[{"thinking":"Hm.","signature":"c2ln"}]}}`)
	said := provider.Message{Speaker: "Ada", Text: "My opening."}
	call := func(text string, opaque ...json.RawMessage) provider.Message {
		m := provider.Message{Speaker: "Ada", Text: text}
		for _, o := range opaque {
			m.ToolCalls = append(m.ToolCalls, provider.ToolCall{ID: "c", Name: "f", Opaque: o})
		}
		return m
	}
	tests := map[string]struct {
		messages []provider.Message
		adaptive bool
		thinks   bool
		want     []string // roles, each with its blocks
	}{
		"own call": {
			[]provider.Message{call("", own)},
			false, true,
			[]string{"user text", "assistant thinking tool_use", "user tool_result text"},
		},
		"redacted": {
			[]provider.Message{call("", redacted)},
			false, true,
			[]string{"user text", "assistant redacted_thinking tool_use", "user tool_result text"},
		},
		"words of a former turn": {
			[]provider.Message{{Text: "Topic."}, said, call("", own)},
			false, true,
			[]string{"user text", "assistant text", "user text", "assistant thinking tool_use", "user tool_result text"},
		},
		"words of the same turn": {
			[]provider.Message{call("Let me see.", own)},
			false, true,
			[]string{"user text", "assistant thinking text tool_use", "user tool_result text"},
		},
		"no call": {
			[]provider.Message{{Text: "Topic."}, said},
			false, true,
			[]string{"user text", "assistant text", "user text"},
		},
		"another vendor's call": {
			[]provider.Message{call("", foreign)},
			false, false,
			[]string{"user text", "assistant tool_use", "user tool_result text"},
		},
		"another vendor's call last": {
			[]provider.Message{call("", own), call("", foreign)},
			false, false,
			[]string{"user text", "assistant tool_use", "user tool_result", "assistant tool_use", "user tool_result text"},
		},
		"another vendor's call first": {
			[]provider.Message{call("", foreign), call("", own)},
			false, true,
			[]string{"user text", "assistant tool_use", "user tool_result", "assistant thinking tool_use", "user tool_result text"},
		},
		"a thought between calls": {
			[]provider.Message{said, call("", foreign, own)},
			false, false,
			[]string{"user text", "assistant text tool_use tool_use", "user tool_result tool_result text"}, //nolint:dupword // two calls
		},
		"adaptive": {
			[]provider.Message{call("", own), call("", foreign)},
			true, true,
			[]string{"user text", "assistant thinking tool_use", "user tool_result", "assistant tool_use", "user tool_result text"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, bodies := recording(t)
			p.ThinkingBudget, p.AdaptiveThinking = 2048, tt.adaptive
			req := request()
			req.Messages = tt.messages
			adaptertest.Answer(t, p, req)
			var sent struct {
				Thinking *struct{ Type string }
				Messages []struct {
					Role    string
					Content []struct{ Type string }
				}
			}
			require.NoError(t, json.Unmarshal((*bodies)[0], &sent))
			var got []string
			for _, m := range sent.Messages {
				for _, c := range m.Content {
					m.Role += " " + c.Type
				}
				got = append(got, m.Role)
			}
			assert.Equal(t, tt.want, got)
			assert.Equal(t, tt.thinks, sent.Thinking != nil)
		})
	}
}

func TestConstructor(t *testing.T) {
	p := anthropic.New(canary)
	assert.Equal(t, "https://api.anthropic.com", p.BaseURL)
	assert.Equal(t, "anthropic", p.Vendor())
	p.Header = http.Header{"X-Secret": {canary}}
	for _, s := range []string{fmt.Sprint(p), fmt.Sprintf("%+v", p), fmt.Sprintf("%#v", p)} {
		assert.Equal(t, "anthropic", s)
	}
	assert.Nil(t, anthropic.New("").Key)
}

func TestSchema(t *testing.T) {
	object := func(properties, more string) string {
		return `{"type":"object","properties":{` + properties + `}` + more + `}`
	}
	many := func(n int, one string) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(`"p%d":%s`, i, one)
		}
		return strings.Join(list, ",")
	}
	union := `{"anyOf":[{"type":"string"},{"type":"null"}]}`
	tests := []struct {
		name, schema string
		sent         bool
	}{
		{"plain", object(`"a":{"type":"string"}`, ""), true},
		{"keywords as names", object(`"enum":{"type":"string"},"$ref":{"type":"string"},"type":{"type":["string","null"]}`, ""), true},
		{"shared definition", object(`"a":{"$ref":"#/$defs/d"},"b":{"$ref":"#/$defs/d"}`, `,"$defs":{"d":{"type":"string"}}`), true},
		{"chain of definitions", object(`"a":{"$ref":"#/definitions/d"}`, `,"definitions":{"d":{"type":"array","items":{"$ref":"#/definitions/e"}},"e":{"type":"string"}}`), true},
		{"sixteen unions", object(many(16, union), ""), true},
		{"seventeen unions", object(many(17, union), ""), false},
		{"seventeen types", object(many(17, `{"type":["string","null"]}`), ""), false},
		{"itself", object(`"a":{"$ref":"#"}`, ""), false},
		{"circle", object(`"a":{"$ref":"#/$defs/d"}`, `,"$defs":{"d":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/e"}]},"e":{"type":"array","items":{"$ref":"#/$defs/d"}}}`), false},
		{"part of a property", object(`"a":{"type":"string"},"b":{"$ref":"#/properties/a"}`, ""), false},
		{"missing definition", object(`"a":{"$ref":"#/$defs/d"}`, ""), false},
		{"escaped definition", object(`"a":{"$ref":"#/$defs/d~1e"}`, `,"$defs":{"d/e":{"type":"string"}}`), false},
		{"objects as values", object(`"a":{"enum":[{"x":1}]}`, ""), false},
		{"list as value", object(`"a":{"const":[1]}`, ""), false},
		{"numbers as values", object(`"a":{"enum":[1,null,true,"x"]}`, ""), true},
		{"map", `{"type":"object","additionalProperties":{"type":"string"}}`, false},
		{"no object", `{"type":"string"}`, false},
		{"no JSON", `{`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, bodies := recording(t)
			req := request()
			req.Schema = &provider.Schema{Name: "s", JSON: json.RawMessage(tt.schema)}
			adaptertest.Answer(t, p, req)
			var sent struct {
				OutputConfig *struct {
					Format struct{ Schema json.RawMessage }
				} `json:"output_config"`
			}
			require.NoError(t, json.Unmarshal((*bodies)[0], &sent))
			assert.Equal(t, tt.sent, sent.OutputConfig != nil && len(sent.OutputConfig.Format.Schema) > 0)
		})
	}
}
