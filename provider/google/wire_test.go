package google_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
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
	"github.com/agonist-dev/debate/provider/google"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// canary stands for a key.
const canary = "AIzaSyCanary5f1d7a0c93be"

const yes = `data: {"candidates": [{"content": {"parts": [{"text": "Yes."}],"role": "model"},"finishReason": "STOP"}]}` + "\r\n\r\n"

// golden compares got with a file under testdata.
func golden(t *testing.T, path, got string) {
	t.Helper()
	path = filepath.Join("testdata", path)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "make it with -update")
	assert.Equal(t, string(want), got)
}

// sent is a request as it reached the server.
type sent struct {
	method, url string
	header      http.Header
	body        []byte
}

// serve starts a server that says an answer to each request and notes it, and yields a provider for it.
func serve(t *testing.T, status int, answers ...string) (*google.Provider, *[]sent) {
	t.Helper()
	var all []sent
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		all = append(all, sent{r.Method, r.URL.String(), r.Header, body})
		answer := answers[min(len(all), len(answers))-1]
		if strings.HasPrefix(answer, "data:") {
			w.Header().Set("Content-Type", "text/event-stream")
		} else {
			w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	p := google.New(canary)
	p.BaseURL, p.Client = "http://example.com", server.Client()
	return p, &all
}

// pretty writes JSON so that a person can read it.
func pretty(t *testing.T, data []byte) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, json.Indent(&b, data, "", "  "), "%s", data)
	return b.String()
}

func request() *provider.Request {
	return &provider.Request{
		ID: "r1.opening.ada/1", Model: "gemini-2.5-flash", System: "You are Ada.", Self: "Ada",
		Last: provider.Message{Text: "Open."},
	}
}

// ask calls Generate and gathers the chunks.
func ask(t *testing.T, p *google.Provider, req *provider.Request) (*provider.Response, []string, error) {
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

// failure asserts that err is a provider.Error of a kind.
func failure(t *testing.T, err error, kind provider.Kind) *provider.Error {
	t.Helper()
	var e *provider.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, kind, e.Kind, "%v", err)
	return e
}

// playback is a transport that answers with bytes, without a network, and keeps what was sent.
type playback struct {
	answer []byte
	wrap   func(io.Reader) io.Reader
	body   []byte
}

func (p *playback) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		p.body, _ = io.ReadAll(req.Body)
		_ = req.Body.Close()
	}
	response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(p.answer)), req)
	if err == nil && p.wrap != nil {
		response.Body = io.NopCloser(p.wrap(response.Body))
	}
	return response, err
}

// played returns a provider whose server answers with a body.
func played(body string) (*google.Provider, *playback) {
	transport := &playback{answer: []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + body)}
	p := google.New(canary)
	p.Client = &http.Client{Transport: transport}
	return p, transport
}
