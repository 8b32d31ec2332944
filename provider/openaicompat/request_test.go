package openaicompat_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

const yes = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Yes.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

// say answers with a short stream.
func say(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, yes)
}

func TestRequestBody(t *testing.T) {
	zero := 0.0
	talk := provider.Request{
		ID: "r2.rebuttal.ada/1", Model: "model-1", System: "You are Ada.", Self: "Ada",
		Messages: []provider.Message{
			{Text: "Topic: <cars> & cities."},
			{Speaker: "Ben", Fence: "f7Qx", Text: "Ban them."},
			{Speaker: "Ada", Text: "Price them."},
			{Speaker: "Cy", Text: "Both."},
		},
		Last: provider.Message{Text: "Rebut."}, MaxTokens: 321, Temperature: &zero,
	}
	bare := provider.Request{Model: "model-1", Last: provider.Message{Text: "Go."}}
	strict, loose, nameless := bare, bare, bare
	strict.Schema = &provider.Schema{Name: "verdict", JSON: json.RawMessage(
		`{"type":"object","properties":{"reason":{"type":"string"},"score":{"type":"integer","minimum":0}},"required":["reason","score"]}`,
	)}
	loose.Schema = &provider.Schema{Name: "table", JSON: json.RawMessage(`{"type":"object","additionalProperties":{"type":"number"}}`)}
	nameless.Schema = &provider.Schema{JSON: json.RawMessage(`{"type":"object","properties":{}}`)}
	tools := bare
	tools.Self = "Ada"
	tools.Tools = []provider.Tool{{Name: "lookup", Description: "Looks up.", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: "now"}}
	tools.Messages = []provider.Message{
		{Text: "Topic."},
		{Speaker: "Ada", Text: "Let me see.", ToolCalls: []provider.ToolCall{{ID: "a", Name: "lookup", Arguments: json.RawMessage(`{"w":1}`)}, {ID: "b", Name: "now"}}},
		{ToolResult: &provider.ToolResult{ID: "a", Text: "found"}},
		{ToolResult: &provider.ToolResult{ID: "b", Text: "no clock", Error: true}},
		{Speaker: "Ben", Text: "Mine is hidden.", ToolCalls: []provider.ToolCall{{ID: "c", Name: "lookup"}}},
		{ToolResult: &provider.ToolResult{ID: "c", Text: "hidden"}},
		{Speaker: "Ada", ToolCalls: []provider.ToolCall{{ID: "d", Name: "now"}}},
	}

	tests := []struct {
		name string
		make func(key string) *openaicompat.Provider
		req  provider.Request
	}{
		{"openai", openaicompat.OpenAI, talk},
		{"openrouter", openaicompat.OpenRouter, talk},
		{"mistral", openaicompat.Mistral, talk},
		{"bare", openaicompat.OpenAI, bare},
		{"schema_strict", openaicompat.OpenAI, strict},
		{"schema_loose", openaicompat.OpenAI, loose},
		{"schema_nameless", openaicompat.OpenAI, nameless},
		{"tools", openaicompat.OpenAI, tools},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var body []byte
			var header http.Header
			var path string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ = io.ReadAll(r.Body)
				header, path = r.Header, r.Method+" "+r.URL.String()
				say(w)
			}))
			defer server.Close()
			p := tt.make(canary)
			p.BaseURL = server.URL + "/v1?version=1"
			p.Header = http.Header{"x-title": {"debate"}}
			adaptertest.Answer(t, p, &tt.req)

			golden(t, "request/"+tt.name+".json", adaptertest.Indented(t, body))
			assert.Equal(t, "POST /v1/chat/completions?version=1", path)
			assert.Equal(t, "Bearer "+canary, header.Get("Authorization"))
			assert.Equal(t, "application/json", header.Get("Content-Type"))
			assert.Equal(t, "debate", header.Get("X-Title"))
			assert.Equal(t, tt.req.ID, header.Get("X-Client-Request-Id"))
			assert.Empty(t, header.Get("Idempotency-Key"), "net/http would retry by itself")
		})
	}
}

func TestUnwritableRequests(t *testing.T) {
	schema := request()
	schema.Schema = &provider.Schema{Name: "x", JSON: json.RawMessage(`{`)}
	_, _, err := ask(t, openaicompat.Compatible("http://127.0.0.1:1/v1", canary), schema)
	assert.True(t, failure(t, err, provider.KindValidation).NotSent)
}
