package adapter_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

// TestSealsStayWithTheirVendor: what an adapter keeps with a tool call is sent by no other, as when a fallback of
// another vendor takes over in the middle of a loop.
func TestSealsStayWithTheirVendor(t *testing.T) {
	const secret = "c2VjcmV0dGhvdWdodHM=" // base64, as signatures are
	seals := map[string]string{
		"openai":     `{"openai":"m","reasoning":[{"type":"reasoning","id":"rs_1","encrypted_content":"` + secret + `","summary":[]}]}`,
		"anthropic":  `{"anthropic":[{"thinking":"I think.","signature":"` + secret + `"}]}`,
		"google":     `{"vendor":"google","signature":"` + secret + `"}`,
		"deepseek":   `{"vendor":"deepseek","reasoning_content":"` + secret + `"}`,
		"moonshot":   `{"vendor":"moonshot","reasoning_content":"` + secret + `"}`,
		"openrouter": `{"vendor":"openrouter","model":"m","reasoning_details":[{"type":"reasoning.encrypted","data":"` + secret + `"}]}`,
		"gemini":     `{"vendor":"google","model":"m","extra_content":{"google":{"thought_signature":"` + secret + `"}}}`,
	}
	var mu sync.Mutex
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		body = string(data)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	defer server.Client().CloseIdleConnections()
	all := adapters(server.URL, "k", server.Client())
	deepSeek, openRouter := openaicompat.DeepSeek("k"), openaicompat.OpenRouter("k")
	moonshot := &openaicompat.Provider{VendorName: "moonshot", Thoughts: openaicompat.ThoughtsText}
	gemini := &openaicompat.Provider{VendorName: "google", Thoughts: openaicompat.ThoughtsSignature}
	for name, p := range map[string]*openaicompat.Provider{"deepseek": deepSeek, "openrouter": openRouter, "moonshot": moonshot, "gemini": gemini} {
		p.BaseURL, p.Client = server.URL, server.Client()
		all[name] = p
	}
	for owner, seal := range seals {
		for name, p := range all {
			_, err := p.Generate(t.Context(), &provider.Request{
				Model: "m", Self: "Ada", Tools: []provider.Tool{{Name: "now"}}, MaxTokens: 100,
				Messages: []provider.Message{
					{Text: "Topic."},
					{Speaker: "Ada", ToolCalls: []provider.ToolCall{{ID: "c1", Name: "now", Opaque: json.RawMessage(seal)}}},
					{Speaker: "Ada", ToolResult: &provider.ToolResult{ID: "c1", Text: "noon"}},
				},
				Last: provider.Message{Text: "Rebut."},
			}, func(provider.Chunk) {})
			assert.Error(t, err)
			mu.Lock()
			if owner == name {
				assert.Contains(t, body, secret, "%s gets its own", name)
			} else {
				assert.NotContains(t, body, secret, "%s after %s", name, owner)
			}
			mu.Unlock()
		}
	}
}
