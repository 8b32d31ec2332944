package ollama_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/ollama"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// canary stands for a key.
const canary = "sk-canary-5f1d7a0c93be"

// golden compares got with a file under testdata.
func golden(t *testing.T, path, got string) {
	t.Helper()
	path = filepath.Join("testdata", path)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "make it with -update")
	assert.Equal(t, string(want), got)
}

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

// playback is a transport that answers with bytes, without a network.
type playback []byte

func (p playback) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
	return http.ReadResponse(bufio.NewReader(bytes.NewReader(p)), req)
}

func played(answer []byte) *ollama.Provider {
	p := ollama.New("http://model.test")
	p.Client = &http.Client{Transport: playback(answer)}
	return p
}

func request() *provider.Request {
	return &provider.Request{
		ID: "r1.opening.ada/1", Model: "model-1", System: "You are Ada.", Self: "Ada",
		Last: provider.Message{Text: "Open."},
	}
}

// ask calls Generate and gathers the chunks.
func ask(t *testing.T, p *ollama.Provider, req *provider.Request) (*provider.Response, []string, error) {
	t.Helper()
	var chunks []string
	r, err := p.Generate(t.Context(), req, func(c provider.Chunk) {
		if c.Recall {
			chunks = nil
		}
		if !c.Reasoning {
			chunks = append(chunks, c.Text)
		}
	})
	return r, chunks, err
}

// failure asserts that err is a provider.Error of a kind, which shows no key.
func failure(t *testing.T, err error, kind provider.Kind) *provider.Error {
	t.Helper()
	var e *provider.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, kind, e.Kind, "%v", err)
	for _, s := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err)} {
		assert.NotContains(t, s, canary)
	}
	return e
}

// answer is a whole answer with these lines.
func answer(lines ...string) []byte {
	return []byte("HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n" + strings.Join(lines, "\n") + "\n")
}
