package openaicompat_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

const wholeReply = `{"model":"model-1","choices":[{"index":0,"message":{"role":"assistant","content":"{\"score\":1}"},"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":7,"completion_tokens":3}}`

// asked sends a request to a preset whose server is a local one, and yields the body that it sent.
func asked(t *testing.T, p *openaicompat.Provider, req *provider.Request) string {
	t.Helper()
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		_, _ = io.WriteString(w, wholeReply) // some servers do not stream, whatever they are asked
	}))
	t.Cleanup(server.Close)
	p.BaseURL = server.URL
	r, _, err := ask(t, p, req)
	require.NoError(t, err)
	assert.JSONEq(t, `{"score":1}`, r.Text)
	return string(body)
}

// TestPresets: what each server gets of the same request, and where.
func TestPresets(t *testing.T) {
	warm := 0.5
	req := &provider.Request{
		Model: "model-1", Self: "Ada", MaxTokens: 99, Temperature: &warm, Last: provider.Message{Text: "Judge."},
		Schema: &provider.Schema{Name: "score", JSON: json.RawMessage(
			`{"type":"object","properties":{"score":{"type":"integer"}},"required":["score"],"additionalProperties":false}`,
		)},
	}
	tools := &provider.Request{
		Model: "model-1", Self: "Ada", Schema: req.Schema, Tools: []provider.Tool{{Name: "now"}}, Last: provider.Message{Text: "Judge."},
		Messages: []provider.Message{
			{Text: "Topic."},
			{Speaker: "Ben", Text: "Ban them."},
			{Speaker: "Ada", ToolCalls: []provider.ToolCall{{ID: "call_1", Name: "now"}}},
			{Speaker: "Ben", Text: "And?"},
			{Speaker: "Ada", ToolResult: &provider.ToolResult{ID: "call_1", Text: "noon"}},
		},
	}
	tests := []struct {
		name, base, vendor, key string
		preset                  *openaicompat.Provider
	}{
		{"openai", "https://api.openai.com/v1", "openai", "k", openaicompat.OpenAI("k")},
		{"openrouter", "https://openrouter.ai/api/v1", "openrouter", "k", openaicompat.OpenRouter("k")},
		{"mistral", "https://api.mistral.ai/v1", "mistral", "k", openaicompat.Mistral("k")},
		{"groq", "https://api.groq.com/openai/v1", "groq", "k", openaicompat.Groq("k")},
		{"deepseek", "https://api.deepseek.com/v1", "deepseek", "k", openaicompat.DeepSeek("k")},
		{"xai", "https://api.x.ai/v1", "xai", "k", openaicompat.XAI("k")},
		{"ollama", "http://localhost:11434/v1", "ollama", "", openaicompat.Ollama("")},
		{"vllm", "http://localhost:8000/v1", "vllm", "", openaicompat.VLLM("", "")},
		{"compatible", "http://gateway/v1", "", "", openaicompat.Compatible("http://gateway/v1", "")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.base, tt.preset.BaseURL)
			assert.Equal(t, tt.vendor, tt.preset.Vendor())
			if tt.key == "" {
				assert.Nil(t, tt.preset.Key)
			} else {
				key, err := tt.preset.Key(t.Context())
				require.NoError(t, err)
				assert.Equal(t, tt.key, key)
			}
			golden(t, "request/preset_"+tt.name+".golden", asked(t, tt.preset, req))
			golden(t, "request/preset_"+tt.name+"_tools.golden", asked(t, tt.preset, tools))
		})
	}
	assert.Equal(t, "http://box:1/v1", openaicompat.Ollama("http://box:1/v1").BaseURL)
	assert.Equal(t, "http://box:2/v1", openaicompat.VLLM("http://box:2/v1", "").BaseURL)
}

// TestExtraFields: the protocol's own fields cannot be overridden, and what cannot be written is refused.
func TestExtraFields(t *testing.T) {
	p := openaicompat.Compatible("", "")
	p.Extra = map[string]any{"reasoning_effort": "low", "model": "another", "stream": false}
	body := asked(t, p, request())
	assert.Contains(t, body, `"reasoning_effort":"low"`)
	assert.Contains(t, body, `"model":"model-1"`)
	assert.Contains(t, body, `"stream":true`)
	assert.True(t, json.Valid([]byte(body)))

	p.Extra = map[string]any{"model": "another"}
	assert.NotContains(t, asked(t, p, request()), "another")

	p.Extra = map[string]any{"oops": func() {}}
	_, _, err := ask(t, p, request())
	assert.True(t, failure(t, err, provider.KindValidation).NotSent)
}

// TestCheckAsksForTheKey: OpenRouter lists its models to anybody.
func TestCheckAsksForTheKey(t *testing.T) {
	for status, want := range map[int]provider.Kind{http.StatusOK: "", http.StatusUnauthorized: provider.KindAuthentication} {
		p := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/key" {
				w.WriteHeader(status)
				return
			}
			_, _ = io.WriteString(w, `{"data":[{"id":"acme/one"}]}`)
		})
		p.KeyPath = openaicompat.OpenRouter("k").KeyPath
		err := p.Check(t.Context(), "acme/one")
		if want == "" {
			require.NoError(t, err)
			continue
		}
		failure(t, err, want)
	}
}
