package bedrock_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/bedrock"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

const claude = "anthropic.claude-sonnet-4-5-20250929-v1:0"

var (
	failure = adaptertest.Failure
	golden  = adaptertest.Golden
)

// whole is the frames of a whole answer around some of its content.
func whole(reason string, frames ...[]byte) []byte {
	return bytes.Join([][]byte{
		frame("messageStart", `{"role":"assistant"}`), bytes.Join(frames, nil),
		frame("messageStop", `{"stopReason":"`+reason+`"}`),
		frame("metadata", `{"usage":{"inputTokens":20,"outputTokens":9,"totalTokens":29}}`),
	}, nil)
}

func delta(index, data string) []byte {
	return frame("contentBlockDelta", `{"contentBlockIndex":`+index+`,"delta":`+data+`}`)
}

// serve starts a server and returns a provider for it, signed with an account.
func serve(t *testing.T, handler http.HandlerFunc) *bedrock.Provider {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	p := bedrock.New(account("AKIACANARY5f1d7a0c93be"))
	p.BaseURL, p.Client = "http://example.com", server.Client()
	return p
}

// recording is a provider whose server says yes, and the requests that it got.
func recording(t *testing.T) (p *bedrock.Provider, bodies *[]string, requests *[]*http.Request) {
	t.Helper()
	bodies, requests = &[]string{}, &[]*http.Request{}
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*bodies, *requests = append(*bodies, string(body)), append(*requests, r)
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		_, _ = w.Write(whole("end_turn", delta("0", `{"text":"Yes."}`)))
	}), bodies, requests
}

// readable is a request's body for a golden file.
func readable(t *testing.T, body string) string {
	t.Helper()
	return adaptertest.Indented(t, []byte(body))
}

func ask(t *testing.T, p provider.Provider, req *provider.Request) (*provider.Response, error) {
	t.Helper()
	r, _, err := adaptertest.Ask(t, p, req)
	return r, err
}

func request(model string) *provider.Request {
	return &provider.Request{
		ID: "r1.opening.ada/1", Model: model, System: "You are Ada.", Self: "Ada", MaxTokens: 500,
		Last: provider.Message{Text: "Open."},
	}
}

func schema() *provider.Schema {
	return &provider.Schema{Name: "judgement", JSON: json.RawMessage(
		`{"type":"object","properties":{"score":{"type":"integer"},"reason":{"type":"string"}},"required":["score"]}`)}
}

func sum(body string) string {
	hash := sha256.Sum256([]byte(body))
	return hex.EncodeToString(hash[:])
}
