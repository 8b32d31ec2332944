package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/openai"
)

const canary = adaptertest.Key

var (
	failure = adaptertest.Failure
	golden  = adaptertest.Golden
)

// serve starts a server and yields a provider for it.
func serve(t *testing.T, handler http.HandlerFunc) *openai.Provider {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	p := openai.New(canary)
	p.BaseURL, p.Client = "http://example.com/v1", server.Client()
	return p
}

func request() *provider.Request {
	return &provider.Request{
		ID: "r1.opening.ada/1", Model: "gpt-5", System: "You are Ada.", Self: "Ada",
		Messages: []provider.Message{{Text: "The topic is cars."}}, Last: provider.Message{Text: "Open."}, MaxTokens: 100,
	}
}

func ask(t *testing.T, p provider.Provider, req *provider.Request) (*provider.Response, error) {
	t.Helper()
	r, _, err := adaptertest.Ask(t, p, req)
	return r, err
}

// answerJSON answers with a status and a document.
func answerJSON(w http.ResponseWriter, status int, body string) {
	if strings.HasPrefix(body, "<") {
		w.Header().Set("Content-Type", "text/html")
	} else {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// stream writes events of a reply.
func stream(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		adaptertest.Say(w, "data: "+e+"\n\n")
	}
}

// say answers a request for a response.
func say(w http.ResponseWriter) {
	stream(w,
		`{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Yes."}`,
		`{"type":"response.completed","response":{"status":"completed","model":"gpt-5-2025","output":[]}}`,
	)
}

// sayChat answers a request for a chat completion.
func sayChat(w http.ResponseWriter, text string) {
	quoted, _ := json.Marshal(text)
	stream(w, `{"choices":[{"index":0,"delta":{"content":`+string(quoted)+`},"finish_reason":"stop"}]}`, "[DONE]")
}

func TestNew(t *testing.T) {
	p := openai.New(canary)
	assert.Equal(t, "https://api.openai.com/v1", p.BaseURL)
	assert.Equal(t, openai.Auto, p.API)
	assert.Equal(t, "openai", p.Vendor())
	p.Header = http.Header{"X-Secret": {canary}}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		assert.Equal(t, "openai", strings.TrimSpace(fmt.Sprintf(format, p)))
	}
	assert.Nil(t, openai.New("").Key)
}

// OpenAI's own client would take all of these.
func TestTheEnvironmentIsNotRead(t *testing.T) {
	for name, value := range map[string]string{
		"OPENAI_BASE_URL": "http://127.0.0.1:1/elsewhere", "OPENAI_API_KEY": "sk-from-the-environment", "OPENAI_ADMIN_KEY": "sk-admin",
		"OPENAI_ORG_ID": "org-env", "OPENAI_PROJECT_ID": "proj-env", "OPENAI_CUSTOM_HEADERS": "X-Env: yes",
	} {
		t.Setenv(name, value)
	}
	var seen []http.Header
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header)
		if r.URL.Path == "/v1/responses" {
			say(w)
			return
		}
		answerJSON(w, 200, `{"id":"gpt-5","object":"model"}`)
	})
	for _, key := range []provider.Key{p.Key, nil} {
		p.Key = key
		adaptertest.Answer(t, p, request())
		require.NoError(t, p.Check(t.Context(), "gpt-5"))
	}
	require.Len(t, seen, 4)
	for i, h := range seen {
		want := "Bearer " + canary
		if i >= 2 {
			want = ""
		}
		assert.Equal(t, want, h.Get("Authorization"))
		for _, name := range []string{"Openai-Organization", "Openai-Project", "X-Env"} {
			assert.Empty(t, h.Values(name))
		}
	}
}

func TestWhatIsNotSent(t *testing.T) {
	p := openai.New(canary)
	p.API = "soap"
	adaptertest.Unsent(t, p, request(), "api")
	p = openai.New(canary)
	req := request()
	req.Schema = &provider.Schema{Name: "x", JSON: json.RawMessage(`{`)}
	_, err := ask(t, p, req)
	assert.True(t, failure(t, err, provider.KindValidation).NotSent)
	req = request()
	req.Tools = []provider.Tool{{Name: "x", Parameters: json.RawMessage(`nonsense`)}}
	_, err = ask(t, p, req)
	assert.True(t, failure(t, err, provider.KindValidation).NotSent)
	assert.True(t, failure(t, p.Check(t.Context(), ""), provider.KindValidation).NotSent)
}

// Only OpenAI's own servers are known to run the models of its names.
func TestOnlyOpenAIsOwnServersAreVouchedFor(t *testing.T) {
	t.Parallel()
	p := openai.New("k")
	assert.True(t, p.Vouches("gpt-4"))
	for _, address := range []string{"http://localhost:8000/v1", "https://mine.openai.azure.com/openai/v1", "https://api.openai.com.example/v1"} {
		p.BaseURL = address
		assert.False(t, p.Vouches("gpt-4"), address)
	}
}
