package anthropic_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/anthropic"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

const canary = adaptertest.Key

var (
	ask     = adaptertest.Ask
	failure = adaptertest.Failure
	golden  = adaptertest.Golden
)

// readable is a request's body for a golden file: indented, and with the markers of fences as they are.
func readable(t *testing.T, body []byte) string {
	t.Helper()
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(adaptertest.Indented(t, body))
}

// event is one server-sent event.
func event(kind, data string) string { return "event: " + kind + "\ndata: " + data + "\n\n" }

// stream is a whole answer around some events of its content, with the reason for its end.
func stream(content, reason string) string {
	return event("message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[],"stop_reason":null,"usage":{"input_tokens":20,"cache_creation_input_tokens":3,"cache_read_input_tokens":7,"output_tokens":1}}}`) +
		content +
		event("message_delta", `{"type":"message_delta","delta":{"stop_reason":"`+reason+`","stop_sequence":null},"usage":{"output_tokens":9}}`) +
		event("message_stop", `{"type":"message_stop"}`)
}

// block is a content block of the stream with its pieces.
func block(index int, start string, deltas ...string) string {
	var b strings.Builder
	b.WriteString(event("content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, index, start)))
	for _, d := range deltas {
		b.WriteString(event("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, index, d)))
	}
	b.WriteString(event("content_block_stop", fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index)))
	return b.String()
}

func text(index int, pieces ...string) string {
	deltas := make([]string, len(pieces))
	for i, p := range pieces {
		deltas[i] = fmt.Sprintf(`{"type":"text_delta","text":%q}`, p)
	}
	return block(index, `{"type":"text","text":""}`, deltas...)
}

// serve starts a server and yields a provider for it.
func serve(t *testing.T, handler http.HandlerFunc) *anthropic.Provider {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	p := anthropic.New(canary)
	p.BaseURL, p.Client = "http://example.com", server.Client()
	return p
}

// say answers with a short stream.
func say(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, stream(text(0, "Yes."), "end_turn"))
}

// recording is a provider whose server says yes, and the bodies that it is sent.
func recording(t *testing.T) (*anthropic.Provider, *[][]byte) {
	t.Helper()
	var bodies [][]byte
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, body)
		say(w)
	}), &bodies
}

const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nRequest-Id: req_1\r\nConnection: close\r\n\r\n"

// played is a provider whose server gives an answer byte for byte.
func played(answer string) *anthropic.Provider {
	p := anthropic.New(canary)
	p.BaseURL = "http://example.com"
	p.Client = &http.Client{Transport: &adaptertest.Playback{Answer: answer}}
	return p
}

func request() *provider.Request {
	return &provider.Request{
		ID: "r1.opening.ada/1", Model: "claude-x", System: "You are Ada.", Self: "Ada",
		Last: provider.Message{Text: "Open."},
	}
}
