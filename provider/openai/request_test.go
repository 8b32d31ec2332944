package openai_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/openai"
)

// requests are what the golden files show.
func requests() map[string]provider.Request {
	zero := 0.0
	talk := provider.Request{
		ID: "r2.rebuttal.ada/1", Model: "gpt-5", System: "You are Ada.", Self: "Ada",
		Messages: []provider.Message{
			{Text: "Topic: <cars> & cities."},
			{Speaker: "Ben", Fence: "f7Qx", Text: "Ban them."},
			{Speaker: "Ada", Text: "Price them."},
			{Speaker: "Cy", Text: "Both."},
		},
		Last: provider.Message{Text: "Rebut."}, MaxTokens: 321, Temperature: &zero, Labels: map[string]string{"tenant": "t1"},
	}
	bare := provider.Request{Model: "gpt-5", Last: provider.Message{Text: "Go."}}
	strict, loose, nameless := bare, bare, bare
	strict.Schema = &provider.Schema{Name: "verdict", JSON: json.RawMessage(
		`{"type":"object","properties":{"reason":{"type":"string"},"score":{"type":"integer","minimum":0},"a":{"type":"null"}},"required":["reason","score"]}`,
	)}
	loose.Schema = &provider.Schema{Name: "table", JSON: json.RawMessage(`{"type":"object","additionalProperties":{"type":"number"}}`)}
	nameless.Schema = &provider.Schema{JSON: json.RawMessage(`{"type":"object","properties":{}}`)}
	tools := bare
	tools.Self = "Ada"
	tools.Tools = []provider.Tool{{
		Name: "lookup", Description: "Looks up.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"w":{"type":"integer"},"a":{"type":"string"}}}`),
	}, {Name: "now"}}
	thought := json.RawMessage(`{"host":"example.com","model":"gpt-5","kept":{"reasoning":[{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"seal <1>"}]}}`)
	later := json.RawMessage(`{"host":"example.com","model":"gpt-5","kept":{"reasoning":[{"id":"rs_2","type":"reasoning","summary":[],"encrypted_content":"seal 2"}]}}`)
	tools.Messages = []provider.Message{
		{Text: "Topic."},
		{Speaker: "Ada", Text: "Let me see.", ToolCalls: []provider.ToolCall{
			{ID: "a", Name: "lookup", Arguments: json.RawMessage(`{"w":1}`), Opaque: thought}, {ID: "b", Name: "now", Opaque: later},
		}},
		{ToolResult: &provider.ToolResult{ID: "a", Text: "found"}},
		{ToolResult: &provider.ToolResult{ID: "b", Text: "no clock", Error: true}},
		{Speaker: "Ben", Text: "Mine is hidden.", ToolCalls: []provider.ToolCall{{ID: "c", Name: "lookup", Opaque: thought}}},
		{ToolResult: &provider.ToolResult{ID: "c", Text: "hidden"}},
		{Speaker: "Ada", ToolCalls: []provider.ToolCall{{ID: "d", Name: "now"}}},
		{ToolResult: &provider.ToolResult{ID: "d"}},
	}
	plain := tools // does not reason: its thoughts are neither asked for nor given back
	plain.Model = "gpt-4.1"
	return map[string]provider.Request{
		"talk": talk, "bare": bare, "schema_strict": strict, "schema_loose": loose, "schema_nameless": nameless,
		"tools": tools, "tools_plain_model": plain,
	}
}

func TestRequestBody(t *testing.T) {
	for name, req := range requests() {
		t.Run(name, func(t *testing.T) {
			var body []byte
			var header http.Header
			var path string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ = io.ReadAll(r.Body)
				header, path = r.Header, r.Method+" "+r.URL.String()
				say(w)
			}))
			defer server.Close()
			p := openai.New(canary)
			p.BaseURL, p.Client = "http://example.com/v1?api-version=preview", server.Client()
			p.Header = http.Header{"Openai-Project": {"proj_1"}}
			adaptertest.Answer(t, p, &req)

			golden(t, "request/"+name+".golden", pretty(t, body))
			assert.Equal(t, "POST /v1/responses?api-version=preview", path)
			assert.Equal(t, "Bearer "+canary, header.Get("Authorization"))
			assert.Equal(t, "application/json", header.Get("Content-Type"))
			assert.Equal(t, "application/json", header.Get("Accept"))
			assert.Equal(t, "proj_1", header.Get("Openai-Project"))
			assert.Equal(t, req.ID, header.Get("X-Client-Request-Id"))
			assert.Empty(t, header.Get("Idempotency-Key"), "net/http would retry by itself")
		})
	}
}

func pretty(t *testing.T, body []byte) string {
	t.Helper()
	return adaptertest.Indented(t, body)
}

func TestSealedThoughtsAreAskedOfModelsThatReason(t *testing.T) {
	for model, want := range map[string]bool{
		"gpt-5": true, "gpt-5-mini-2025-08-07": true, "gpt-5.3-codex": true, "gpt-6-astra": true, "gpt-10": true, "o1": true, "o3-mini": true,
		"o4-mini-deep-research": true, "ft:o4-mini-2025-04-16:org::1": true, "openai/gpt-5": true, "GPT-5": true, "codex-mini-latest": true,
		"openai/gpt-oss-120b": true, "gpt-oss:20b": true,
		"gpt-4o": false, "gpt-4.1": false, "gpt-4": false, "gpt-3.5-turbo": false, "gpt-5-chat-latest": false, "gpt-5.1-chat-latest": false,
		"ft:gpt-4o:org::1": false, "chatgpt-4o-latest": false, "llama3": false, "omni": false, "o": false, "gpt-": false, "": false,
		"gpt-99999999999999999999": false,
	} {
		p := serve(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			assert.Equal(t, want, bytes.Contains(body, []byte("reasoning.encrypted_content")), model)
			say(w)
		})
		req := request()
		req.Model = model
		req.Tools = []provider.Tool{{Name: "now"}}
		adaptertest.Answer(t, p, req)
	}
}

// A host's store, or another vendor's adapter, may put anything there.
func TestForeignOpaquesAreIgnored(t *testing.T) {
	for _, opaque := range []string{
		``, `null`, `7`, `"x"`, `{}`, `{"signature":"x"}`, `{"host":7}`, `{"host":"example.com"}`,
		`{"host":"example.com","model":"o3","kept":{"reasoning":[{"type":"reasoning","encrypted_content":"MARK"}]}}`,
		`{"host":"example.com","model":"gpt-5","kept":{"reasoning":[{"type":"message","role":"system","content":"MARK"}]}}`,
		`{"host":"example.com","model":"gpt-5","kept":{"reasoning":[{"type":"reasoning","id":"MARK","summary":[]}]}}`,
		`{"host":"example.com","model":"gpt-5","kept":{"reasoning":["MARK"]}}`,
		`{"host":"another.example.com","model":"gpt-5","kept":{"reasoning":[{"type":"reasoning","encrypted_content":"MARK"}]}}`,
	} {
		p := serve(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			assert.NotContains(t, string(body), "MARK")
			assert.Contains(t, string(body), `"call_1"`)
			say(w)
		})
		req := request()
		req.Messages = []provider.Message{{Speaker: "Ada", ToolCalls: []provider.ToolCall{{ID: "call_1", Name: "now", Opaque: json.RawMessage(opaque)}}}}
		_, err := ask(t, p, req)
		require.NoError(t, err, opaque)
	}
}

// TestTheCacheKeyIsTheConversations: judges and speakers of one conversation read the same messages. Where no conversation is named, the
// system prompt is what requests have in common.
func TestTheCacheKeyIsTheConversations(t *testing.T) {
	key := func(req *provider.Request) string {
		var body struct {
			Key string `json:"prompt_cache_key"`
		}
		p := serve(t, func(w http.ResponseWriter, r *http.Request) {
			assert.NoError(t, json.NewDecoder(r.Body).Decode(&body))
			say(w)
		})
		adaptertest.Answer(t, p, req)
		return body.Key
	}
	a, b, c := request(), request(), request()
	a.ID, b.ID, c.ID = "duel/r1.opening.Ada/1", "duel/verdict.judge/2", "other/r1.opening.Ada/1"
	b.System = "You judge."
	b.Messages = append(b.Messages, provider.Message{Speaker: "Ben", Text: "More."})
	assert.Equal(t, key(a), key(b))
	assert.NotEqual(t, key(a), key(c))
	for _, nameless := range []string{"", "7c1e", "/1"} {
		a.ID, b.ID, c.ID = nameless, nameless, nameless
		assert.NotEqual(t, key(a), key(b), nameless)
		assert.Equal(t, key(a), key(c), nameless)
	}
	c.System = ""
	assert.Empty(t, key(c))
}

func TestBaseURLWithACredential(t *testing.T) {
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		assert.Equal(t, "ada:pass", user+":"+password)
		say(w)
	})
	p.Key = nil
	p.BaseURL = "http://ada:pass@" + p.BaseURL[len("http://"):]
	adaptertest.Answer(t, p, request())
}
