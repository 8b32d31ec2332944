package openai_test

import (
	"context"
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
	"github.com/agonist-dev/debate/provider/openai"
)

var update = flag.Bool("update", false, "rewrite golden files")

const canary = "sk-canary-7d20c1f9a4"

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

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

func ask(t *testing.T, p *openai.Provider, req *provider.Request) (*provider.Response, error) {
	t.Helper()
	var chunks, thoughts strings.Builder
	r, err := p.Generate(t.Context(), req, func(c provider.Chunk) {
		if c.Recall {
			chunks.Reset()
		}
		if c.Reasoning {
			thoughts.WriteString(c.Text)
			return
		}
		chunks.WriteString(c.Text)
	})
	if err == nil {
		require.NotNil(t, r)
		assert.Equal(t, r.Text, chunks.String(), "the chunks add up to the text")
		assert.Equal(t, r.Reasoning, thoughts.String(), "and those of thoughts to theirs")
	}
	return r, err
}

// failure is the *provider.Error that err must be.
func failure(t *testing.T, err error, kind provider.Kind) *provider.Error {
	t.Helper()
	e, ok := errors.AsType[*provider.Error](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, kind, e.Kind, "%v", e)
	return e
}

func assertNoKey(t *testing.T, err error) {
	t.Helper()
	for ; err != nil; err = errors.Unwrap(err) {
		for _, format := range []string{"%v", "%+v", "%#v", "%q"} {
			assert.NotContains(t, fmt.Sprintf(format, err), canary)
		}
	}
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
		flush(w, "data: "+e+"\n\n")
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

// The SDK's client would take all of these.
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
		_, err := ask(t, p, request())
		require.NoError(t, err)
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

// calls is everything that makes a request.
var calls = map[string]func(ctx context.Context, p *openai.Provider) error{
	"generate": func(ctx context.Context, p *openai.Provider) error {
		_, err := p.Generate(ctx, request(), func(provider.Chunk) {})
		return err
	},
	"check": func(ctx context.Context, p *openai.Provider) error { return p.Check(ctx, "gpt-5") },
}

func TestNoFailureShowsTheKey(t *testing.T) {
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			for _, body := range []string{
				`{"error":{"message":"not with ` + canary + `","code":"` + canary + `"}}`, "not with " + canary, `{"` + canary + `":1}`, "{", "[]", "",
			} {
				for _, status := range []int{200, 302, 400, 401, 404, 405, 429, 500} {
					p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
						w.Header().Set("Location", "http://"+canary+".example/")
						w.Header().Set("X-Request-ID", canary)
						answerJSON(w, status, body)
					})
					err := call(t.Context(), p)
					if name == "check" && (status == 404 || status == 405) && err == nil {
						continue // a server that cannot tell
					}
					require.Error(t, err)
					_, ok := errors.AsType[*provider.Error](err)
					assert.True(t, ok, "%T", err)
					assertNoKey(t, err)
				}
			}
			p := openai.New(canary)
			p.BaseURL = "http://127.0.0.1:1/" + canary
			err := call(t.Context(), p)
			assert.True(t, failure(t, err, provider.KindNetwork).NotSent)
			assertNoKey(t, err)
		})
	}
}

func TestWhatIsNotSent(t *testing.T) {
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			for _, base := range []string{"", "localhost:8080", "ftp://host/v1", "http://user:" + canary + "@host:x/"} {
				p := openai.New(canary)
				p.BaseURL = base
				err := call(t.Context(), p)
				e := failure(t, err, provider.KindValidation)
				assert.True(t, e.NotSent)
				assert.Equal(t, "base_url", e.Code)
				assertNoKey(t, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			assert.True(t, failure(t, call(ctx, openai.New(canary)), provider.KindCanceled).NotSent)
		})
	}
	p := openai.New(canary)
	p.API = "soap"
	_, err := ask(t, p, request())
	e := failure(t, err, provider.KindValidation)
	assert.True(t, e.NotSent)
	assert.Equal(t, "api", e.Code)
	p = openai.New(canary)
	req := request()
	req.Schema = &provider.Schema{Name: "x", JSON: json.RawMessage(`{`)}
	_, err = ask(t, p, req)
	assert.True(t, failure(t, err, provider.KindValidation).NotSent)
	req = request()
	req.Tools = []provider.Tool{{Name: "x", Parameters: json.RawMessage(`nonsense`)}}
	_, err = ask(t, p, req)
	assert.True(t, failure(t, err, provider.KindValidation).NotSent)
	assert.True(t, failure(t, p.Check(t.Context(), ""), provider.KindValidation).NotSent)
}

func TestNothingIsRetried(t *testing.T) {
	for name, call := range calls {
		for _, status := range []int{408, 409, 429, 500, 503} {
			n := 0
			p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				n++
				w.Header().Set("X-Should-Retry", "true")
				answerJSON(w, status, `{}`)
			})
			p.API = openai.Responses
			require.Error(t, call(t.Context(), p))
			assert.Equal(t, 1, n, "%s, status %d", name, status)
		}
	}
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
