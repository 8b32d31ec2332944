package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/openai"
)

// asked returns the body of a request.
func asked(t *testing.T, req *provider.Request) (body []byte) {
	t.Helper()
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		say(w)
	})
	p.API = openai.Responses
	adaptertest.Answer(t, p, req)
	return body
}

func TestOptions(t *testing.T) {
	half := 0.5
	for name, o := range map[string]provider.Options{
		"effort":    {Effort: provider.EffortLow},
		"topP":      {TopP: &half},
		"tier":      {ServiceTier: "flex"},
		"verbosity": {Verbosity: provider.VerbosityHigh},
		"search":    {Search: true},
		"reasoning": {Reasoning: provider.ReasoningAsk},
		"hide":      {Reasoning: provider.ReasoningHide},
		"extra":     {Effort: provider.EffortHigh, Extra: map[string]json.RawMessage{"max_tool_calls": []byte(`3`), "reasoning": []byte(`{"mode":"<pro>"}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			req := request()
			req.Options = &o
			golden(t, "option/"+name+".golden", pretty(t, asked(t, req)))
		})
	}
}

func TestParts(t *testing.T) {
	req := request()
	parts := []provider.Part{
		{Type: "image/png", Data: []byte("png")},
		{Type: "application/pdf", Name: "plan.pdf", Data: []byte("pdf")},
		{Type: "text/csv; charset=utf-8", Data: []byte("a,b")},
	}
	req.Messages = []provider.Message{
		{Text: "The topic is cars.", Parts: parts},
		{Speaker: "Ada", Text: "My own words."},
		{Speaker: "Ben", Fence: "f7Qx", Text: "See this.", Parts: parts[:1]},
		{Parts: parts[1:2]},
		{Speaker: "Ada", Text: "Mine.", Parts: parts[:1]},
	}
	req.Last.Parts = parts[:1]
	golden(t, "option/parts.golden", pretty(t, asked(t, req)))
}

func TestEfforts(t *testing.T) {
	for model, want := range map[string][6]string{ // for none, minimal, low, medium, high, max
		"gpt-5.6":             {"none", "low", "low", "medium", "high", "max"},
		"gpt-6-luna":          {"none", "low", "low", "medium", "high", "max"},
		"gpt-5.4-mini":        {"none", "low", "low", "medium", "high", "xhigh"},
		"gpt-5.2-pro":         {"", "medium", "medium", "medium", "high", "xhigh"},
		"gpt-5.3-codex":       {"", "low", "low", "medium", "high", "xhigh"},
		"gpt-5.1":             {"none", "low", "low", "medium", "high", "high"},
		"gpt-5.1-codex":       {"", "low", "low", "medium", "high", "high"},
		"gpt-5.1-codex-max":   {"", "low", "low", "medium", "high", "xhigh"},
		"gpt-5":               {"", "minimal", "low", "medium", "high", "high"},
		"openai/gpt-5-mini":   {"", "minimal", "low", "medium", "high", "high"},
		"gpt-5-pro":           {"", "high", "high", "high", "high", "high"},
		"gpt-5.1-chat-latest": {"", "medium", "medium", "medium", "medium", "medium"},
		"ft:o4-mini:org::1":   {"", "low", "low", "medium", "high", "high"},
		"gpt-oss-120b":        {"", "low", "low", "medium", "high", "high"},
		"gpt-4.1":             {},
		"gpt-5-chat-latest":   {},
		"o1-mini":             {},
		"llama-7":             {"none", "low", "low", "medium", "high", "high"},
	} {
		for i, effort := range provider.Efforts() {
			var body struct {
				Reasoning struct{ Effort string }
			}
			p := serve(t, func(w http.ResponseWriter, r *http.Request) {
				assert.NoError(t, json.NewDecoder(r.Body).Decode(&body))
				say(w)
			})
			req := request()
			req.Model, req.Options = model, &provider.Options{Effort: effort}
			_, err := ask(t, p, req)
			if want[i] == "" {
				e := failure(t, err, provider.KindValidation)
				assert.True(t, e.NotSent)
				assert.Equal(t, "effort", e.Code, "%s %s", model, effort)
				continue
			}
			require.NoError(t, err, "%s %s", model, effort)
			assert.Equal(t, want[i], body.Reasoning.Effort, "%s %s", model, effort)
		}
	}
}

// What the API has no words for fails before anything is sent.
func TestUnwritableOptions(t *testing.T) {
	seed := int64(1)
	sent := 0
	p := serve(t, func(http.ResponseWriter, *http.Request) { sent++ })
	p.API = openai.Responses
	adaptertest.Refused(t, p, request, func() int { return sent }, []adaptertest.Unwritable{
		{Name: "stop", Model: "gpt-5", Code: "stop", Options: provider.Options{Stop: []string{"END"}}},
		{Name: "seed", Model: "gpt-5", Code: "seed", Options: provider.Options{Seed: &seed}},
		{Name: "thinks always", Model: "gpt-5", Code: "effort", Options: provider.Options{Effort: provider.EffortNone}},
		{Name: "thinks never", Model: "gpt-4.1", Code: "effort", Options: provider.Options{Effort: provider.EffortLow}},
		{
			Name: "a field of the options", Model: "gpt-5", Code: "extra",
			Options: provider.Options{Effort: provider.EffortLow, Extra: adaptertest.Fields(t, `{"reasoning":{"effort":"high"}}`)},
		},
		{Name: "the adapter's header", Model: "gpt-5", Code: "header", Options: provider.Options{Header: map[string]string{"accept": "x"}}},
		{Name: "audio", Model: "gpt-5", Code: "parts", Part: "audio/wav"},
	})
}

// As long as nobody knows which API a server has, what only one of them has words for decides.
func TestOptionsThatDecideTheAPI(t *testing.T) {
	var paths []string
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if paths = append(paths, r.URL.Path); r.URL.Path == "/v1/responses" {
			answerJSON(w, 404, `{"detail":"Not Found"}`)
			return
		}
		sayChat(w, "Yes.")
	})
	req := request()
	req.Options = &provider.Options{Search: true}
	_, err := ask(t, p, req)
	assert.Equal(t, "search", failure(t, err, provider.KindValidation).Code, "the API that the server has cannot search")
	assert.Equal(t, []string{"/v1/responses"}, paths)
	paths = nil
	req.Options = &provider.Options{Stop: []string{"END"}}
	for range 2 {
		adaptertest.Answer(t, p, req)
	}
	assert.Equal(t, []string{"/v1/chat/completions", "/v1/chat/completions"}, paths)
}
