package adapter_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
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

// explaining returns the adapters with a reader of a vendor's own shape of an error: {"oops": …}.
func explaining(url string) map[string]provider.Provider {
	explain := func(_ int, _ http.Header, body []byte) wire.Fault {
		if !strings.Contains(string(body), `"oops"`) {
			return wire.Fault{}
		}
		return wire.Fault{Kind: provider.KindQuota, Code: "oops", Message: "no more"}
	}
	all := adapters(url, "a-key-of-the-test-4242", nil)
	for _, p := range all {
		switch p := p.(type) {
		case *openaicompat.Provider:
			p.Explain = explain
		case *openai.Provider:
			p.Explain = explain
		case *anthropic.Provider:
			p.Explain = explain
		case *google.Provider:
			p.Explain = explain
		case *ollama.Provider:
			p.Explain = explain
		case *bedrock.Provider:
			p.Explain = explain
		case *vertex.Provider:
			p.Gemini.Explain = explain
		}
	}
	return all
}

// failsAlike asks each adapter at a server with one answer, and returns the failures.
func failsAlike(t *testing.T, status int, kind, answer string) map[string]*provider.Error {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	failures := map[string]*provider.Error{}
	for name, p := range explaining(server.URL) {
		req := &provider.Request{Model: "gemini-3-pro", MaxTokens: 100, Messages: []provider.Message{{Text: "Begin."}}}
		_, err := p.Generate(t.Context(), req, func(provider.Chunk) {})
		var e *provider.Error
		require.ErrorAs(t, err, &e, name)
		failures[name] = e
	}
	return failures
}

// TestAnErrorOfAnOwnShape: Endpoint.Explain is asked wherever an error may stand, also where no adapter knows one.
func TestAnErrorOfAnOwnShape(t *testing.T) {
	for name, c := range map[string]struct {
		status       int
		kind, answer string
		but          string // the adapter whose vendor has no such form
	}{
		"a status":              {418, "application/json", `{"oops":{"left":0}}`, ""},
		"under 200":             {200, "application/json", `{"oops":{"left":0}}`, ""},
		"between events":        {200, "text/event-stream", "\n: a comment\n\n{\"oops\":{\"left\":0}}\n", "bedrock"},
		"in an event":           {200, "text/event-stream", "data: {\"oops\":{\"left\":0}}\n\n", "bedrock, ollama"},
		"in an event of errors": {200, "text/event-stream", "event: error\ndata: {\"oops\":{\"left\":0}}\n\n", "bedrock, ollama"},
	} {
		t.Run(name, func(t *testing.T) {
			for vendor, e := range failsAlike(t, c.status, c.kind, c.answer) {
				if strings.Contains(c.but, vendor) || vendor == "ollama" && c.kind != "application/json" {
					continue
				}
				assert.Equal(t, provider.KindQuota, e.Kind, "%s: %v", vendor, e)
				assert.Equal(t, "oops", e.Code, vendor)
				assert.Equal(t, "no more", e.Message, vendor)
			}
		})
	}
}

// TestAPageIsAWrongPath: a server that answers with its web page mostly has no API at that path. A network that asks for a login does so
// too, so that it may be asked again.
func TestAPageIsAWrongPath(t *testing.T) {
	for _, page := range []string{"<!doctype html><title>Open WebUI</title>", "\n<html>\n</html>\n"} {
		for vendor, e := range failsAlike(t, 200, "text/html; charset=utf-8", page) {
			assert.Equal(t, provider.KindInvalidResponse, e.Kind, "%s: %v", vendor, e)
			assert.Equal(t, wire.CodeEndpoint, e.Code, vendor)
			assert.Contains(t, e.Message, "the server answered with a web page (the server has nothing at /", vendor)
			assert.Contains(t, e.Message, "BaseURL", vendor)
		}
	}
}
