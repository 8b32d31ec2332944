package google_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/google"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

// requests are one of each kind that an engine makes.
func requests() map[string]*provider.Request {
	zero := 0.0
	half := 0.5
	talk := &provider.Request{
		ID: "r2.rebuttal.ada/1", Model: "gemini-2.5-flash", System: "You are Ada.", Self: "Ada",
		Messages: []provider.Message{
			{Text: "Topic: <cars> & cities."},
			{Speaker: "Ben", Fence: "f7Qx", Text: "Ban them."},
			{Speaker: "Ada", Text: "Price them."},
			{Speaker: "Ada", Text: "By the mile."},
			{Speaker: "Cy", Text: "Both."},
		},
		Last: provider.Message{Text: "Rebut."}, MaxTokens: 321, Temperature: &zero,
	}
	bare := func() *provider.Request {
		return &provider.Request{Model: "gemini-2.5-flash", Last: provider.Message{Text: "Go."}}
	}
	schema := bare()
	schema.Temperature = &half
	schema.Schema = &provider.Schema{Name: "verdict", JSON: json.RawMessage(
		`{"type":"object","properties":{"reason":{"type":"string","minLength":1},"a_score":{"type":"integer","minimum":0}},"required":["reason","a_score"],"additionalProperties":false}`,
	)}
	tools := bare()
	tools.Self = "Ada"
	tools.Tools = []provider.Tool{
		{Name: "lookup", Description: "Looks up.", Parameters: json.RawMessage(`{"type":"object","properties":{"w":{"type":"integer","exclusiveMinimum":0}}}`)},
		{Name: "now"},
	}
	tools.Messages = []provider.Message{
		{Text: "Topic."},
		{Speaker: "Ada", Text: "Let me see.", ToolCalls: []provider.ToolCall{
			{ID: "a", Name: "lookup", Arguments: json.RawMessage(`{"w":1}`), Opaque: json.RawMessage(`{"host":"example.com","kept":{"id":"fc-1","signature":"U2ln"}}`)},
			{ID: "b", Name: "now", Opaque: json.RawMessage(`{"host":"example.com","kept":{}}`)},
		}},
		{ToolResult: &provider.ToolResult{ID: "b", Text: "no clock", Error: true}},
		{ToolResult: &provider.ToolResult{ID: "a", Text: "found"}},
		{Speaker: "Ben", Text: "Mine is hidden.", ToolCalls: []provider.ToolCall{{ID: "c", Name: "lookup"}}},
		{ToolResult: &provider.ToolResult{ID: "c", Text: "hidden"}},
		{Speaker: "Ada", ToolCalls: []provider.ToolCall{{ID: "a", Name: "lookup", Opaque: json.RawMessage(`[{"type":"thinking"}]`)}}},
		{ToolResult: &provider.ToolResult{ID: "a", Text: "found again"}},
		{Speaker: "Ada", ToolCalls: []provider.ToolCall{{ID: "d", Name: "now", Opaque: json.RawMessage(`{"host":"another.example.com","kept":{"id":"tu-1","signature":"Rm9yZWlnbg=="}}`)}}},
		{Speaker: "Ada", ToolCalls: []provider.ToolCall{{ID: "d", Name: "now"}}},
		{ToolResult: &provider.ToolResult{ID: "d", Text: "noon"}},
	}
	both, old := bare(), bare()
	both.Model, both.Schema, both.Tools = "models/gemini-3-pro-preview", schema.Schema, tools.Tools[1:]
	old.Schema, old.Tools = schema.Schema, tools.Tools[1:]
	first := bare() // the speaker's first turn calls a tool
	first.Self, first.Tools = "Ada", tools.Tools
	first.Messages = []provider.Message{
		{Speaker: "Ada", ToolCalls: []provider.ToolCall{{ID: "a", Name: "now"}}},
		{ToolResult: &provider.ToolResult{ID: "a", Text: "noon"}},
	}
	mine := bare()
	mine.Self, mine.Messages = "Ada", []provider.Message{{Speaker: "Ada", Text: "As I said."}}
	return map[string]*provider.Request{
		"call_first": first, "own_words_first": mine, "talk": talk, "bare": bare(), "schema": schema, "tools": tools, "schema_and_tools": both, "schema_and_tools_old": old,
	}
}

func TestRequestBody(t *testing.T) {
	for name, req := range requests() {
		t.Run(name, func(t *testing.T) {
			p, all := serve(t, http.StatusOK, yes)
			p.Header = http.Header{"x-title": {"debate"}}
			if name == "talk" {
				p.Safety = []google.Safety{{Category: "HARM_CATEGORY_HARASSMENT", Threshold: "BLOCK_ONLY_HIGH"}}
				p.Thinking = &google.Thinking{Budget: new(int32(0))}
			}
			adaptertest.Answer(t, p, req)
			require.Len(t, *all, 1)
			got := (*all)[0]
			golden(t, "request/"+name+".json", pretty(t, got.body))
			model := strings.TrimPrefix(req.Model, "models/")
			assert.Equal(t, "POST /v1beta/models/"+model+":streamGenerateContent?alt=sse", got.method+" "+got.url)
			assert.Equal(t, canary, got.header.Get("X-Goog-Api-Key"))
			assert.Empty(t, got.header.Get("Authorization"))
			assert.Equal(t, "application/json", got.header.Get("Content-Type"))
			assert.Equal(t, "debate", got.header.Get("X-Title"))
			assert.Equal(t, req.ID, got.header.Get("X-Client-Request-Id"))
			assert.NotContains(t, got.url+string(got.body), canary)
		})
	}
}

// However a conversation begins, the request begins with a user's content.
func TestTheUserBegins(t *testing.T) {
	for name, req := range requests() {
		p, all := serve(t, http.StatusOK, yes)
		adaptertest.Answer(t, p, req)
		var body struct{ Contents []*genai.Content }
		require.NoError(t, json.Unmarshal((*all)[0].body, &body))
		require.NotEmpty(t, body.Contents)
		for i, c := range body.Contents {
			assert.Equal(t, []string{"user", "model"}[i%2], c.Role, "%s: %d", name, i)
		}
	}
}

// The SDK's own client, asked the same, sends the same: method, path, query and body.
func TestTheSDKWouldSendTheSame(t *testing.T) {
	t.Setenv("GOOGLE_API_KEY", "")
	for name, req := range requests() {
		t.Run(name, func(t *testing.T) {
			p, all := serve(t, http.StatusOK, yes)
			adaptertest.Answer(t, p, req)

			var body struct {
				Contents          []*genai.Content
				SystemInstruction *genai.Content
				Tools             []*genai.Tool
				GenerationConfig  genai.GenerateContentConfig // holds what generationConfig does
			}
			require.NoError(t, json.Unmarshal((*all)[0].body, &body))
			config := body.GenerationConfig
			config.SystemInstruction, config.Tools = body.SystemInstruction, body.Tools
			for _, err := range sdk(t, p).Models.GenerateContentStream(t.Context(), req.Model, body.Contents, &config) {
				require.NoError(t, err)
			}
			same(t, *all)
		})
	}
	t.Run("check", func(t *testing.T) {
		p, all := serve(t, http.StatusOK, `{"name":"models/gemini-2.5-flash"}`)
		require.NoError(t, p.Check(t.Context(), "gemini-2.5-flash"))
		_, err := sdk(t, p).Models.Get(t.Context(), "gemini-2.5-flash", nil)
		require.NoError(t, err)
		same(t, *all)
	})
}

func sdk(t *testing.T, p *google.Provider) *genai.Client {
	t.Helper()
	client, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		APIKey: "another", Backend: genai.BackendGeminiAPI, HTTPClient: p.Client, HTTPOptions: genai.HTTPOptions{BaseURL: p.BaseURL},
	})
	require.NoError(t, err)
	return client
}

func same(t *testing.T, all []sent) {
	t.Helper()
	require.Len(t, all, 2)
	assert.Equal(t, all[1].method+" "+all[1].url, all[0].method+" "+all[0].url)
	if len(all[1].body) > 0 || len(all[0].body) > 0 {
		assert.JSONEq(t, string(all[1].body), string(all[0].body))
	}
}

func TestUnwritableRequests(t *testing.T) {
	with := func(change func(*provider.Request)) *provider.Request {
		req := request()
		change(req)
		return req
	}
	tests := map[string]struct {
		req  *provider.Request
		code string
	}{
		"schema":       {with(func(r *provider.Request) { r.Schema = &provider.Schema{JSON: json.RawMessage(`{`)} }), "schema"},
		"no schema":    {with(func(r *provider.Request) { r.Schema = &provider.Schema{JSON: json.RawMessage(`7`)} }), "schema"},
		"tool":         {with(func(r *provider.Request) { r.Tools = []provider.Tool{{Name: "x", Parameters: json.RawMessage(`[]`)}} }), "tool"},
		"no model":     {with(func(r *provider.Request) { r.Model = "" }), "model"},
		"query":        {with(func(r *provider.Request) { r.Model = "gemini?key=x" }), "model"},
		"other method": {with(func(r *provider.Request) { r.Model = "gemini:deleteEverything" }), "model"},
		"other path":   {with(func(r *provider.Request) { r.Model = "../files/x" }), "model"},
		"escaped path": {with(func(r *provider.Request) { r.Model = "%2e%2e/files" }), "model"},
		"line":         {with(func(r *provider.Request) { r.Model = "a\nb" }), "model"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, all := serve(t, http.StatusOK, yes)
			adaptertest.Unsent(t, p, tt.req, tt.code)
			assert.Empty(t, *all)
		})
	}
}

// A schema beside tools goes only to models whose name says that they take both.
func TestSchemaBesideTools(t *testing.T) {
	for model, want := range map[string]bool{
		"gemini-3-pro-preview": true, "gemini-3.5-flash": true, "models/gemini-3-flash-preview": true, "gemini-10-pro": true,
		"gemini-2.5-pro": false, "gemini-2.0-flash-001": false, "gemini-exp-1206": false, "gemini-flash-latest": false,
		"gemma-3-27b-it": false, "tunedModels/gemini-3": false, "3": false, "gemini-": false, "gemini-99999999999999999999": false,
	} {
		p, transport := played(yes)
		req := requests()["schema_and_tools"]
		req.Model = model
		adaptertest.Answer(t, p, req)
		assert.Equal(t, want, strings.Contains(string(transport.Body), "responseJsonSchema"), model)
		assert.Contains(t, string(transport.Body), "functionDeclarations", model)
	}
}

func TestBaseURLKeepsItsPathAndQuery(t *testing.T) {
	p, all := serve(t, http.StatusOK, yes)
	p.BaseURL += "/gateway/?tenant=7"
	req := request()
	req.Model = "tunedModels/mine-1"
	adaptertest.Answer(t, p, req)
	assert.Equal(t, "/gateway/v1beta/tunedModels/mine-1:streamGenerateContent?tenant=7&alt=sse", (*all)[0].url)
}

func TestNew(t *testing.T) {
	p := google.New(canary)
	assert.Equal(t, "https://generativelanguage.googleapis.com", p.BaseURL)
	assert.Equal(t, "google", p.Vendor())
	assert.Equal(t, "google", fmt.Sprintf("%v", p))
	assert.Equal(t, "google", fmt.Sprintf("%#v", p))

	var header http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		_, _ = w.Write([]byte(yes))
	}))
	defer server.Close()
	p = google.New("")
	p.BaseURL = server.URL
	adaptertest.Answer(t, p, request())
	assert.NotContains(t, header, "X-Goog-Api-Key", "an empty key sends none")
}
