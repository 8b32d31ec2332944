package ollama_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/ollama"
)

// posed asks a provider at a server of its own, and returns what the server got.
func posed(t *testing.T, p *ollama.Provider, req *provider.Request) (fields map[string]json.RawMessage, err error) {
	t.Helper()
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		assert.NoError(t, json.Unmarshal(body, &fields))
		_, _ = io.WriteString(w, yes)
	})
	p.BaseURL = at.BaseURL
	_, _, err = ask(t, p, req)
	return fields, err
}

// asked returns what a provider sends for a request.
func asked(t *testing.T, p *ollama.Provider, req *provider.Request) map[string]json.RawMessage {
	t.Helper()
	fields, err := posed(t, p, req)
	require.NoError(t, err)
	return fields
}

// unsent asserts that a request is refused before anything is sent, and returns the failure.
func unsent(t *testing.T, p *ollama.Provider, req *provider.Request) *provider.Error {
	t.Helper()
	fields, err := posed(t, p, req)
	e := failure(t, err, provider.KindValidation)
	assert.True(t, e.NotSent)
	assert.Empty(t, fields)
	return e
}

// TestOptions: what each option adds to a request, or why it fails before it is sent.
func TestOptions(t *testing.T) {
	var got strings.Builder
	for _, tt := range []struct {
		name  string
		think any
		own   map[string]any
		o     provider.Options
	}{
		{name: "effort none", o: provider.Options{Effort: provider.EffortNone}},
		{name: "effort minimal", o: provider.Options{Effort: provider.EffortMinimal}},
		{name: "effort medium", o: provider.Options{Effort: provider.EffortMedium}},
		{name: "effort max", o: provider.Options{Effort: provider.EffortMax}},
		{name: "effort of the host", think: "low"},
		{name: "effort over the host's", think: "low", o: provider.Options{Effort: provider.EffortHigh}},
		{name: "topP", own: map[string]any{"top_p": 0.1, "min_p": 0.2}, o: provider.Options{TopP: new(0.9)}},
		{name: "stop", o: provider.Options{Stop: []string{"<end>"}}},
		{name: "seed", o: provider.Options{Seed: new(int64(0))}},
		{name: "reasoning ask", o: provider.Options{Reasoning: provider.ReasoningAsk}},
		{name: "reasoning ask over the host's", think: false, o: provider.Options{Reasoning: provider.ReasoningAsk}},
		{name: "reasoning hide", o: provider.Options{Reasoning: provider.ReasoningHide}},
		{name: "serviceTier", o: provider.Options{ServiceTier: "flex"}},
		{name: "verbosity", o: provider.Options{Verbosity: provider.VerbosityLow}},
		{name: "search", o: provider.Options{Search: true}},
		{name: "extra", o: provider.Options{Extra: map[string]json.RawMessage{"logprobs": []byte("true"), "options": []byte(`{"mirostat":1}`)}}},
		{name: "extra model", o: provider.Options{Extra: map[string]json.RawMessage{"model": []byte(`"x"`)}}},
		{name: "extra truncate", o: provider.Options{Extra: map[string]json.RawMessage{"truncate": []byte("true")}}},
		{name: "extra limit", o: provider.Options{Extra: map[string]json.RawMessage{"options": []byte(`{"num_predict":1}`)}}},
		{name: "header", o: provider.Options{Header: map[string]string{"Authorization": "x"}}},
	} {
		req := request()
		req.Options = &tt.o
		p := ollama.New("")
		p.Think, p.Options = tt.think, tt.own
		fields, err := posed(t, p, req)
		if err != nil {
			e := failure(t, err, provider.KindValidation)
			assert.True(t, e.NotSent)
			fmt.Fprintf(&got, "%s: ✗ %s: %s\n", tt.name, e.Code, e.Message)
			continue
		}
		fmt.Fprintf(&got, "%s: think=%s options=%s logprobs=%s\n", tt.name, fields["think"], fields["options"], fields["logprobs"])
	}
	req := request()
	req.Model, req.Options = "gpt-oss:20b", &provider.Options{Effort: provider.EffortNone}
	fmt.Fprintf(&got, "gpt-oss without thinking: ✗ %s\n", unsent(t, ollama.New(""), req).Message)
	golden(t, "request/say.golden", got.String())
}

// TestImages: images come with the message that they belong to, as data.
func TestImages(t *testing.T) {
	picture := func(data string) provider.Part { return provider.Part{Type: "image/png", Data: []byte(data)} }
	req := &provider.Request{
		Model: "llava", System: "You are Ada.", Self: "Ada",
		Messages: []provider.Message{
			{Text: "Topic.", Parts: []provider.Part{picture("1"), picture("2")}},
			{Speaker: "Ada", Text: "Seen."},
			{Speaker: "Ben", Parts: []provider.Part{picture("3")}},
			{Speaker: "Cy", Text: "And?"},
		},
		Last: provider.Message{Text: "Go.", Parts: []provider.Part{picture("4")}},
	}
	assert.Equal(t, strings.Join([]string{
		`[{"role":"system","content":"You are Ada."}`,
		`{"role":"user","images":["MQ==","Mg=="],"content":"Topic."}`,
		`{"role":"assistant","content":"Seen."}`,
		`{"role":"user","images":["Mw=="],"content":"Cy: And?"}`,
		`{"role":"user","images":["NA=="],"content":"Go."}]`,
	}, ","), string(asked(t, ollama.New(""), req)["messages"]))
	for _, media := range []string{"application/pdf", "text/plain", "image/svg+xml", ""} {
		req.Last.Parts = []provider.Part{{Type: media, Data: []byte("x")}}
		unsent(t, ollama.New(""), req)
	}
}
