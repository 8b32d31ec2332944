package ollama_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/ollama"
)

const canary = adaptertest.Key

var (
	ask     = adaptertest.Ask
	failure = adaptertest.Failure
	golden  = adaptertest.Golden
)

// serve starts a server and yields the provider for it.
func serve(t *testing.T, handler http.HandlerFunc) *ollama.Provider {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	p := ollama.New(server.URL)
	p.Key, p.Client = provider.StaticKey(canary), server.Client()
	return p
}

// answering returns a provider whose server answers every request so.
func answering(t *testing.T, status int, body string) *ollama.Provider {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

func played(answer string) *ollama.Provider {
	p := ollama.New("http://model.test")
	p.Client = &http.Client{Transport: &adaptertest.Playback{Answer: answer}}
	return p
}

func request() *provider.Request {
	return &provider.Request{
		ID: "r1.opening.ada/1", Model: "model-1", System: "You are Ada.", Self: "Ada",
		Last: provider.Message{Text: "Open."},
	}
}

// answer is a whole answer with these lines.
func answer(lines ...string) string {
	return "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n" + strings.Join(lines, "\n") + "\n"
}
