package anthropic_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
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
	"github.com/agonist-dev/debate/provider/anthropic"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// canary stands for a key.
const canary = "sk-ant-canary-5f1d7a0c93be"

// golden compares got with a file under testdata.
func golden(t *testing.T, path, got string) {
	t.Helper()
	path = filepath.Join("testdata", path)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "make it with -update")
	assert.Equal(t, string(want), got)
}

// readable is a request's body for a golden file: indented, and with the markers of fences as they are.
func readable(t *testing.T, body []byte) string {
	t.Helper()
	var pretty bytes.Buffer
	require.NoError(t, json.Indent(&pretty, body, "", "  "))
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(pretty.String()) + "\n"
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

// playback is a transport that answers with bytes, without a network.
type playback struct {
	answer string
	wrap   func(io.Reader) io.Reader
}

func (p playback) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
	response, err := http.ReadResponse(bufio.NewReader(strings.NewReader(p.answer)), req)
	if err == nil && p.wrap != nil {
		response.Body = io.NopCloser(p.wrap(response.Body))
	}
	return response, err
}

const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nRequest-Id: req_1\r\nConnection: close\r\n\r\n"

// played is a provider whose server gives an answer byte for byte.
func played(answer string) *anthropic.Provider {
	p := anthropic.New(canary)
	p.BaseURL = "http://example.com"
	p.Client = &http.Client{Transport: playback{answer: answer}}
	return p
}

func request() *provider.Request {
	return &provider.Request{
		ID: "r1.opening.ada/1", Model: "claude-x", System: "You are Ada.", Self: "Ada",
		Last: provider.Message{Text: "Open."},
	}
}

// ask calls Generate and gathers the chunks.
func ask(t *testing.T, p provider.Provider, req *provider.Request) (*provider.Response, []string, error) {
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

// failure asserts that err is a provider.Error of a kind, and shows no key.
func failure(t *testing.T, err error, kind provider.Kind) *provider.Error {
	t.Helper()
	var e *provider.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, kind, e.Kind, "%v", err)
	assertNoKey(t, err)
	return e
}

// assertNoKey searches every rendition of an error, and of what it wraps, for the key.
func assertNoKey(t *testing.T, err error) {
	t.Helper()
	for ; err != nil; err = errors.Unwrap(err) {
		text, _ := json.Marshal(err)
		for _, s := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err), string(text)} {
			assert.NotContains(t, s, canary)
			assert.NotContains(t, s, "sk-ant-cana", "not even its beginning")
		}
	}
}
