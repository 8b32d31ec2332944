package vertex_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/google"
)

func request(model string) *provider.Request {
	return &provider.Request{
		ID: "r1.opening.ada/1", Model: model, System: "You are Ada.", Self: "Ada", MaxTokens: 50, Last: provider.Message{Text: "Open."},
	}
}

// TestRequests: what is sent where. The model of Claude is in the path and not in the body.
func TestRequests(t *testing.T) {
	type seen struct {
		path string
		body map[string]json.RawMessage
	}
	var got []seen
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]json.RawMessage
		data, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(data, &body)
		got = append(got, seen{r.Method + " " + r.URL.RequestURI(), body})
		_, _ = io.WriteString(w, `{"name":"publishers/x/models/y"}`)
	}))
	defer server.Close()
	p := at(server.URL, "ya29.token", server.Client())
	p.Gemini.Safety = []google.Safety{{Category: "HARM_CATEGORY_HARASSMENT", Threshold: "BLOCK_NONE"}}
	for _, model := range []string{"gemini-2.5-flash", "claude-sonnet-4-5@20250929", "endpoints/123"} {
		_, _ = p.Generate(t.Context(), request(model), func(provider.Chunk) {})
		require.NoError(t, p.Check(t.Context(), model))
	}
	var paths []string
	for _, s := range got {
		paths = append(paths, s.path)
	}
	const in = "/v1beta1/projects/debates/locations/global/"
	const claude = "/v1/projects/debates/locations/global/publishers/anthropic/models/"
	assert.Equal(t, []string{
		"POST " + in + "publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
		"GET /v1beta1/publishers/google/models/gemini-2.5-flash",
		"POST " + claude + "claude-sonnet-4-5@20250929:streamRawPredict",
		"GET /v1beta1/publishers/anthropic/models/claude-sonnet-4-5@20250929",
		"POST " + in + "endpoints/123:streamGenerateContent?alt=sse",
	}, paths)
	names := func(body map[string]json.RawMessage) []string {
		var list []string
		for name := range body {
			list = append(list, name)
		}
		return list
	}
	assert.ElementsMatch(t, []string{"contents", "systemInstruction", "generationConfig", "safetySettings"}, names(got[0].body))
	assert.ElementsMatch(t, []string{"anthropic_version", "stream", "messages", "system", "max_tokens"}, names(got[2].body))
}

// TestSeals: a signature of Gemini goes back to Vertex AI, in whatever region, and one of the Gemini API does not. Thoughts of
// Claude's are valid at Anthropic too. No other host is sent anything of them, and none of its own comes here.
func TestSeals(t *testing.T) {
	const secret = "c2VhbGVk"
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		body = string(data)
	}))
	defer server.Close()
	client := reaching(server)
	defer client.CloseIdleConnections()
	const vertexAI, gateway = "http://europe-west4-aiplatform.googleapis.com", "http://gateway.test:8080"
	for _, tt := range []struct {
		base, model, host string
		goes              bool
	}{
		{vertexAI, "gemini-3-flash-preview", "aiplatform.googleapis.com", true},
		{vertexAI, "gemini-3-flash-preview", "generativelanguage.googleapis.com", false},
		{vertexAI, "gemini-3-flash-preview", "gateway.test:8080", false},
		{gateway, "gemini-3-flash-preview", "aiplatform.googleapis.com", false},
		{gateway, "gemini-3-flash-preview", "gateway.test:8080", true},
		{vertexAI, "claude-sonnet-4-5@20250929", "anthropic.com", true},
		{vertexAI, "claude-sonnet-4-5@20250929", "gateway.test:8080", false},
		{gateway, "claude-sonnet-4-5@20250929", "anthropic.com", false},
		{gateway, "claude-sonnet-4-5@20250929", "gateway.test:8080", true},
	} {
		p := at(tt.base, "ya29.token", client)
		req := request(tt.model)
		kept := `{"id":"a","signature":"` + secret + `","blocks":[{"thinking":"Hm.","signature":"` + secret + `"}]}`
		req.Messages = []provider.Message{{Speaker: "Ada", ToolCalls: []provider.ToolCall{
			{ID: "a", Name: "lookup", Arguments: json.RawMessage("{}"), Opaque: json.RawMessage(`{"host":"` + tt.host + `","kept":` + kept + `}`)},
		}}}
		_, _ = p.Generate(t.Context(), req, func(provider.Chunk) {})
		assert.Contains(t, body, "lookup")
		assert.Equal(t, tt.goes, strings.Contains(body, secret), "%+v", tt)
		if strings.HasPrefix(tt.model, "gemini") {
			assert.Contains(t, body, "thoughtSignature", "the one that stands for a foreign call")
		}
	}
}

// reaching is a client that finds a server at any address.
func reaching(server *httptest.Server) *http.Client {
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}
	return &http.Client{Transport: &http.Transport{DialContext: dial}}
}
