package google_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/google"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

const canary = adaptertest.Key

var (
	ask     = adaptertest.Ask
	failure = adaptertest.Failure
	golden  = adaptertest.Golden
	pretty  = adaptertest.Indented
)

const yes = `data: {"candidates": [{"content": {"parts": [{"text": "Yes."}],"role": "model"},"finishReason": "STOP"}]}` + "\r\n\r\n"

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

func request() *provider.Request {
	return &provider.Request{
		ID: "r1.opening.ada/1", Model: "gemini-2.5-flash", System: "You are Ada.", Self: "Ada",
		Last: provider.Message{Text: "Open."},
	}
}

const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"

// played returns a provider whose server answers with a body.
func played(body string) (*google.Provider, *adaptertest.Playback) {
	transport := &adaptertest.Playback{Answer: head + body}
	p := google.New(canary)
	p.Client = &http.Client{Transport: transport}
	return p, transport
}
