package ollama_test

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/ollama"
)

const yes = `{"model":"model-1","message":{"role":"assistant","content":"Yes."},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":2}` + "\n"

func talk() provider.Request {
	zero := 0.0
	return provider.Request{
		ID: "r2.rebuttal.ada/1", Model: "model-1", System: "You are Ada.", Self: "Ada",
		Messages: []provider.Message{
			{Text: "Topic: <cars> & cities."},
			{Speaker: "Ben", Fence: "f7Qx", Text: "Ban them."},
			{Speaker: "Ada", Text: "Price them."},
			{Speaker: "Ada", Text: "And soon."},
			{Speaker: "Cy", Text: "Both."},
		},
		Last: provider.Message{Text: "Rebut."}, MaxTokens: 321, Temperature: &zero,
	}
}

func TestRequestBody(t *testing.T) {
	bare := provider.Request{Model: "model-1", Last: provider.Message{Text: "Go."}}
	schema, tools := bare, bare
	schema.Schema = &provider.Schema{Name: "verdict", JSON: json.RawMessage(
		`{"type":"object","properties":{"reason":{"type":"string"},"score":{"type":"integer","minimum":0}},"required":["reason","score"]}`,
	)}
	tools.Self = "Ada"
	tools.Tools = []provider.Tool{{Name: "lookup", Description: "Looks up.", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: "now"}}
	tools.Messages = []provider.Message{
		{Text: "Topic."},
		{Speaker: "Ada", Text: "Let me see.", ToolCalls: []provider.ToolCall{
			{ID: "a", Name: "lookup", Arguments: json.RawMessage(`{"w":1}`)}, {ID: "b", Name: "now"},
		}},
		{ToolResult: &provider.ToolResult{ID: "a", Text: "found"}},
		{ToolResult: &provider.ToolResult{ID: "b", Text: "no clock", Error: true}},
		{Speaker: "Ada", Text: "It is noon."},
		{Speaker: "Ben", Text: "Mine is hidden.", ToolCalls: []provider.ToolCall{{ID: "c", Name: "lookup"}}},
		{ToolResult: &provider.ToolResult{ID: "c", Text: "hidden"}},
		{Speaker: "Ada", ToolCalls: []provider.ToolCall{
			{ID: "call_0", Name: "now", Arguments: json.RawMessage(`null`)},
			{ID: "d", Name: "lookup", Arguments: json.RawMessage(`"no object"`)},
			{ID: "e", Name: "lookup", Arguments: json.RawMessage(`{"cut`)},
			{ID: "f", Name: "lookup", Arguments: json.RawMessage(`[1]`)},
		}},
		{ToolResult: &provider.ToolResult{ID: "call_0", Text: "12:00"}},
		{Speaker: "Ada", ToolCalls: []provider.ToolCall{{ID: "call_0", Name: "lookup"}}},
		{ToolResult: &provider.ToolResult{ID: "call_0", Text: "of the other tool"}},
	}

	tests := []struct {
		name  string
		setup func(p *ollama.Provider)
		req   provider.Request
	}{
		{"talk", nil, talk()},
		{"bare", nil, bare},
		{"schema", nil, schema},
		{"tools", nil, tools},
		{"window", func(p *ollama.Provider) { p.NumCtx, p.KeepAlive = 16_384, 90*time.Second }, talk()},
		{"kept_for_ever", func(p *ollama.Provider) { p.KeepAlive = -1 }, bare},
		{"think_off", func(p *ollama.Provider) { p.Think = false }, bare},
		{"think_level", func(p *ollama.Provider) { p.Think = "low" }, bare},
		{"options", func(p *ollama.Provider) {
			p.NumCtx, p.Options = 8192, map[string]any{"seed": 7, "num_ctx": 1, "num_predict": 2, "temperature": 3}
		}, talk()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var body []byte
			var header http.Header
			var path string
			p := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ = io.ReadAll(r.Body)
				header, path = r.Header, r.Method+" "+r.URL.String()
				_, _ = io.WriteString(w, yes)
			})
			if tt.setup != nil {
				tt.setup(p)
			}
			p.BaseURL += "/proxy/?version=1"
			adaptertest.Answer(t, p, &tt.req)

			golden(t, "request/"+tt.name+".json", adaptertest.Indented(t, body))
			assert.Equal(t, "POST /proxy/api/chat?version=1", path)
			assert.Equal(t, "Bearer "+canary, header.Get("Authorization"))
			assert.Equal(t, "application/json", header.Get("Content-Type"))
			assert.Equal(t, tt.req.ID, header.Get("X-Client-Request-Id"))
		})
	}
}

// Without truncate and shift the server would drop the conversation's beginning in silence.
func TestEveryRequestForbidsTruncation(t *testing.T) {
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&body))
		assert.Equal(t, false, body["truncate"])
		assert.Equal(t, false, body["shift"])
		_, _ = io.WriteString(w, yes)
	})
	p.Options = map[string]any{"truncate": true, "shift": true}
	req := talk()
	adaptertest.Answer(t, p, &req)
}

func TestKeyIsOptional(t *testing.T) {
	for _, key := range []provider.Key{nil, provider.StaticKey("")} {
		p := serve(t, func(w http.ResponseWriter, r *http.Request) {
			assert.Empty(t, r.Header.Values("Authorization"))
			_, _ = io.WriteString(w, yes)
		})
		p.Key = key
		adaptertest.Answer(t, p, request())
	}
}

func TestUnwritableRequests(t *testing.T) {
	tests := []struct {
		name string
		make func(p *ollama.Provider, req *provider.Request)
	}{
		{"broken schema", func(_ *ollama.Provider, req *provider.Request) {
			req.Schema = &provider.Schema{Name: "x", JSON: json.RawMessage(`{`)}
		}},
		{"strange option", func(p *ollama.Provider, _ *provider.Request) { p.Options = map[string]any{"x": func() {}} }},
		{"strange thought", func(p *ollama.Provider, _ *provider.Request) { p.Think = make(chan int) }},
		{"no message", func(_ *ollama.Provider, req *provider.Request) { req.System, req.Last.Text = "", "" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, req := ollama.New("http://127.0.0.1:1"), request()
			tt.make(p, req)
			r, _, err := ask(t, p, req)
			assert.True(t, failure(t, err, provider.KindValidation).NotSent)
			assert.Nil(t, r)
		})
	}
}
