package openaicompat_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

const wholeReply = `{"model":"model-1","choices":[{"index":0,"message":{"role":"assistant","content":"{\"score\":1}"},"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":7,"completion_tokens":3}}`

// posed asks a provider at a server of its own, and returns the body that the server got.
func posed(t *testing.T, p *openaicompat.Provider, req *provider.Request) (string, *provider.Response, error) {
	t.Helper()
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		_, _ = io.WriteString(w, wholeReply) // some servers do not stream, whatever they are asked
	}))
	t.Cleanup(server.Close)
	p.BaseURL = server.URL
	r, _, err := ask(t, p, req)
	return string(body), r, err
}

// asked sends a request to a preset whose server is a local one, and yields the body that it sent.
func asked(t *testing.T, p *openaicompat.Provider, req *provider.Request) string {
	t.Helper()
	body, r, err := posed(t, p, req)
	require.NoError(t, err)
	assert.JSONEq(t, `{"score":1}`, r.Text)
	return body
}

// unsent asserts that a request is refused before anything is sent, and returns the failure.
func unsent(t *testing.T, p *openaicompat.Provider, req *provider.Request) *provider.Error {
	t.Helper()
	body, _, err := posed(t, p, req)
	e := failure(t, err, provider.KindValidation)
	assert.True(t, e.NotSent)
	assert.Empty(t, body)
	return e
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
		{"moonshot", "https://api.moonshot.ai/v1", "moonshot", "k", openaicompat.Moonshot("k")},
		{"gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "google", "k", openaicompat.Gemini("k")},
		{"snowflake", "https://my-account.snowflakecomputing.com/api/v2/cortex/v1", "snowflake", "k", openaicompat.Snowflake("my-account", "k")},
		{"azure", "https://acme.openai.azure.com/openai/v1", "azure", "k", openaicompat.Azure("acme", "k")},
		{"lmstudio", "http://localhost:1234/v1", "lmstudio", "", openaicompat.LMStudio("", "")},
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
			golden(t, "request/preset_"+tt.name+".golden", asked(t, tt.preset, req)+"\n")
			golden(t, "request/preset_"+tt.name+"_tools.golden", asked(t, tt.preset, tools)+"\n")
		})
	}
	assert.Equal(t, "http://box:1/v1", openaicompat.Ollama("http://box:1/v1").BaseURL)
	assert.Equal(t, "http://box:2/v1", openaicompat.VLLM("http://box:2/v1", "").BaseURL)
	assert.Equal(t, "http://box:3/v1", openaicompat.LMStudio("http://box:3/v1", "").BaseURL)
	assert.Equal(t, "https://acme.openai.azure.com/openai/v1", openaicompat.Azure("https://acme.openai.azure.com/", "").BaseURL)
	assert.Equal(t, "https://box/api/v2/cortex/v1", openaicompat.Snowflake("https://box/api/v2/cortex/v1", "").BaseURL)
}

// TestAzure: the key has a header of its own, and the older API has its deployment and version in the URL.
// Only OpenAI's own server is known to run the models of its names.
func TestOnlyOpenAIIsVouchedFor(t *testing.T) {
	t.Parallel()
	p := openaicompat.OpenAI("k")
	assert.True(t, p.Vouches("gpt-4.1"))
	p.BaseURL = "http://localhost:8000/v1"
	assert.False(t, p.Vouches("gpt-4.1"))
	for name, other := range map[string]*openaicompat.Provider{
		"openrouter": openaicompat.OpenRouter("k"), "azure": openaicompat.Azure("mine", "k"), "vllm": openaicompat.VLLM("http://localhost:8000/v1", ""),
	} {
		assert.False(t, other.Vouches("gpt-4.1"), name)
	}
}

func TestAzure(t *testing.T) {
	var asked, authorization, key string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, authorization, key = r.URL.String(), r.Header.Get("Authorization"), r.Header.Get("Api-Key")
		_, _ = io.WriteString(w, wholeReply)
	}))
	t.Cleanup(server.Close)
	for base, want := range map[string]string{
		"/openai/v1": "/openai/v1/chat/completions",
		"/openai/deployments/large?api-version=2024-10-21":      "/openai/deployments/large/chat/completions?api-version=2024-10-21",
		"/openai/deployments/large/?api-version=2024-10-21&a=b": "/openai/deployments/large/chat/completions?api-version=2024-10-21&a=b",
	} {
		adaptertest.Answer(t, openaicompat.Azure(server.URL+base, canary), request())
		assert.Equal(t, want, asked)
		assert.Equal(t, canary, key)
		assert.Empty(t, authorization)
	}
}

// TestNoFinishReason: without a finish_reason, [DONE] or the whole document is the end; nothing else is.
func TestNoFinishReason(t *testing.T) {
	const (
		head  = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
		text  = `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Trams.","tool_calls":null}}]}` + "\n\n"
		usage = `data: {"choices":[],"usage":{"prompt_tokens":22,"completion_tokens":%d}}` + "\n\n"
		call  = `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"now","arguments":"{}"}}]}}]}` + "\n\n"
		done  = "data: [DONE]\n\n"
		whole = `{"choices":[{"index":0,"finish_reason":"","message":{"content":"Trams."}}],"usage":{"prompt_tokens":22,"completion_tokens":5}}`
	)
	tests := []struct {
		name, answer string
		limit        int
		stop         provider.StopReason
	}{
		{"done", text + done, 0, provider.StopEnd},
		{"below the limit", text + fmt.Sprintf(usage, 9) + done, 10, provider.StopEnd},
		{"at the limit", text + fmt.Sprintf(usage, 10) + done, 10, provider.StopLength},
		{"a call", call + done, 0, provider.StopTool},
		{"one piece", whole, 0, provider.StopEnd},
		{"a reason all the same", text + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}` + "\n\n" + done, 0, provider.StopLength},
		{"cut", text, 0, ""},
		{"cut after usage", text + fmt.Sprintf(usage, 9), 0, ""},
		{"cut in one piece", whole[:len(whole)-1], 0, ""},
	}
	for _, tt := range tests {
		for _, silent := range []bool{true, false} {
			p := played([]byte(head + tt.answer))
			p.NoFinishReason = silent
			req := request()
			req.MaxTokens = tt.limit
			r, _, err := ask(t, p, req)
			if tt.stop == "" || !silent && tt.name != "a reason all the same" {
				failure(t, err, provider.KindNetwork)
				continue
			}
			require.NoError(t, err, tt.name)
			assert.Equal(t, tt.stop, r.Stop, tt.name)
		}
	}
	p := played([]byte(head + done))
	p.NoFinishReason = true
	_, _, err := ask(t, p, request())
	failure(t, err, provider.KindInvalidResponse)
}

// TestARefusedSchemaHasAHint: the failure names the field that helps, where it may.
func TestARefusedSchemaHasAHint(t *testing.T) {
	const body = "HTTP/1.1 400 X\r\nConnection: close\r\n\r\n" + `{"error":{"message":"This response_format type is unavailable now","type":"invalid_request_error"}}`
	req := request()
	req.Schema = &provider.Schema{JSON: json.RawMessage(`{"type":"object"}`)}
	_, _, err := ask(t, played([]byte(body)), req)
	assert.Contains(t, failure(t, err, provider.KindValidation).Message, "JSONObject")
	_, _, err = ask(t, played([]byte(body)), request())
	assert.NotContains(t, failure(t, err, provider.KindValidation).Message, "JSONObject", "no schema was sent")
	p := played([]byte(body))
	p.JSONObject = true
	_, _, err = ask(t, p, req)
	assert.NotContains(t, failure(t, err, provider.KindValidation).Message, "JSONObject", "it is set")
	_, _, err = ask(t, played([]byte(strings.Replace(body, "response_format", "temperature", 1))), req)
	assert.NotContains(t, failure(t, err, provider.KindValidation).Message, "JSONObject", "another field")
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
