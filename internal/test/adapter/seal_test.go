package adapter_test

import (
	"context"
	"encoding/json"
	"io"
	tcp "net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/anthropic"
	"github.com/agonist-dev/debate/provider/bedrock"
	"github.com/agonist-dev/debate/provider/google"
	"github.com/agonist-dev/debate/provider/ollama"
	"github.com/agonist-dev/debate/provider/openai"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/vertex"
	"github.com/agonist-dev/debate/provider/wire"
)

// TestSealsStayWithTheirVendor: what an adapter keeps with a tool call is sent by no other, as when a fallback of
// another vendor takes over in the middle of a loop, and by the same adapter to no other server.
func TestSealsStayWithTheirVendor(t *testing.T) {
	const secret = "c2VjcmV0dGhvdWdodHM=" // base64, as signatures are
	homes := map[string]string{
		"openai": "http://api.openai.com/v1", "anthropic": "http://api.anthropic.com", "google": "http://generativelanguage.googleapis.com",
		"bedrock": "http://bedrock-runtime.eu-central-1.amazonaws.com", "vertex": "http://aiplatform.googleapis.com",
		"deepseek": "http://api.deepseek.com", "moonshot": "http://api.moonshot.ai/v1", "openrouter": "http://openrouter.ai/api/v1",
		"gemini": "http://generativelanguage.googleapis.com/v1beta/openai", "openaicompat": "http://compatible.test", "ollama": "http://localhost:11434",
	}
	seals := map[string]string{
		"openai":     `"host":"openai.com","model":"m","kept":{"reasoning":[{"type":"reasoning","id":"rs_1","encrypted_content":"` + secret + `","summary":[]}]}`,
		"anthropic":  `"host":"anthropic.com","kept":{"blocks":[{"thinking":"I think.","signature":"` + secret + `"}]}`,
		"google":     `"host":"generativelanguage.googleapis.com","kept":{"signature":"` + secret + `"}`,
		"vertex":     `"host":"aiplatform.googleapis.com","kept":{"signature":"` + secret + `"}`,
		"bedrock":    `"host":"amazonaws.com","model":"m","kept":{"thoughts":[{"text":"I think.","signature":"` + secret + `"}]}`,
		"deepseek":   `"host":"api.deepseek.com","kept":{"reasoning_content":"` + secret + `"}`,
		"moonshot":   `"host":"api.moonshot.ai","kept":{"reasoning_content":"` + secret + `"}`,
		"openrouter": `"host":"openrouter.ai","model":"m","kept":{"reasoning_details":[{"type":"reasoning.encrypted","data":"` + secret + `"}]}`,
		"gemini":     `"host":"generativelanguage.googleapis.com","model":"m","kept":{"extra_content":{"google":{"thought_signature":"` + secret + `"}}}`,
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
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, _ string) (tcp.Conn, error) {
		return new(tcp.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}}}
	defer client.CloseIdleConnections()
	at := func(name, url string) provider.Provider {
		all := adapters("", "k", client)
		for vendor, p := range map[string]*openaicompat.Provider{
			"deepseek": openaicompat.DeepSeek("k"), "openrouter": openaicompat.OpenRouter("k"), "moonshot": openaicompat.Moonshot("k"),
			"gemini": openaicompat.Gemini("k"),
		} {
			p.Client = client
			all[vendor] = p
		}
		endpoint(t, all[name]).BaseURL = url
		return all[name]
	}
	send := func(p provider.Provider, seal string) string {
		_, err := p.Generate(t.Context(), &provider.Request{
			Model: "m", Self: "Ada", Tools: []provider.Tool{{Name: "now"}}, MaxTokens: 100,
			Messages: []provider.Message{
				{Text: "Topic."},
				{Speaker: "Ada", ToolCalls: []provider.ToolCall{{ID: "c1", Name: "now", Opaque: json.RawMessage("{" + seal + "}")}}},
				{Speaker: "Ada", ToolResult: &provider.ToolResult{ID: "c1", Text: "noon"}},
			},
			Last: provider.Message{Text: "Rebut."},
		}, func(provider.Chunk) {})
		require.Error(t, err)
		mu.Lock()
		defer mu.Unlock()
		require.Contains(t, body, "noon")
		return body
	}
	for owner, seal := range seals {
		for name, home := range homes {
			if owner == name {
				assert.Contains(t, send(at(name, home), seal), secret, "%s gets its own", name)
			} else {
				assert.NotContains(t, send(at(name, home), seal), secret, "%s after %s", name, owner)
			}
			assert.NotContains(t, send(at(name, "http://gateway.test:8080/v1"), seal), secret, "%s elsewhere after %s", name, owner)
		}
	}
}

// endpoint returns where an adapter's requests go.
func endpoint(t *testing.T, p provider.Provider) *wire.Endpoint {
	t.Helper()
	switch p := p.(type) {
	case *openai.Provider:
		return &p.Endpoint
	case *anthropic.Provider:
		return &p.Endpoint
	case *google.Provider:
		return &p.Endpoint
	case *bedrock.Provider:
		return &p.Endpoint
	case *vertex.Provider:
		return &p.Gemini.Endpoint
	case *ollama.Provider:
		return &p.Endpoint
	case *openaicompat.Provider:
		return &p.Endpoint
	}
	require.Fail(t, "an adapter of an unknown type")
	return nil
}
