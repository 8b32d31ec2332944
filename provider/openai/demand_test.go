package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openai"
)

// asked returns the body of a request, the body with which the same request is counted, and the header.
func asked(t *testing.T, req *provider.Request) (body, counted []byte, header http.Header) {
	t.Helper()
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/v1/responses" {
			body, header = data, r.Header
			say(w)
			return
		}
		counted = data
		answerJSON(w, 200, `{"input_tokens":7}`)
	})
	p.API = openai.Responses
	require.NoError(t, p.Vet(req))
	_, err := ask(t, p, req)
	require.NoError(t, err)
	_, err = p.CountTokens(t.Context(), req)
	require.NoError(t, err)
	return body, counted, header
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
		"header":    {Header: map[string]string{"openai-beta": "one"}},
	} {
		t.Run(name, func(t *testing.T) {
			req := request()
			req.Options = &o
			body, counted, header := asked(t, req)
			golden(t, "option/"+name+".golden", pretty(t, body)+pretty(t, counted))
			assert.Equal(t, o.Header["openai-beta"], header.Get("Openai-Beta"))
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
	body, counted, _ := asked(t, req)
	golden(t, "option/parts.golden", pretty(t, body)+pretty(t, counted))
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
			own := openai.New("") // what OpenAI's models lack is known
			if want[i] == "" {
				e := failure(t, own.Vet(req), provider.KindValidation)
				assert.Equal(t, "effort", e.Code, "%s %s", model, effort)
				continue
			}
			require.NoError(t, own.Vet(req), "%s %s", model, effort)
			_, err := ask(t, p, req)
			require.NoError(t, err)
			assert.Equal(t, want[i], body.Reasoning.Effort, "%s %s", model, effort)
		}
	}
}

// What the API has no words for fails before anything is sent, in the same way as Vet says.
func TestUnwritableOptions(t *testing.T) {
	half, seed := 0.5, int64(1)
	extra := func(s string) (m map[string]json.RawMessage) {
		require.NoError(t, json.Unmarshal([]byte(s), &m))
		return m
	}
	for _, tt := range []struct {
		name, model, code string
		o                 provider.Options
		parts             []provider.Part
	}{
		{"stop", "gpt-5", "stop", provider.Options{Stop: []string{"END"}}, nil},
		{"seed", "gpt-5", "seed", provider.Options{Seed: &seed}, nil},
		{"thinks always", "gpt-5", "effort", provider.Options{Effort: provider.EffortNone}, nil},
		{"thinks never", "gpt-4.1", "effort", provider.Options{Effort: provider.EffortLow}, nil},
		{"shows no thoughts", "gpt-4.1", "reasoning", provider.Options{Reasoning: provider.ReasoningAsk}, nil},
		{"top_p", "o3", "topP", provider.Options{TopP: &half}, nil},
		{"verbosity", "gpt-4o", "verbosity", provider.Options{Verbosity: provider.VerbosityLow}, nil},
		{"search", "gpt-4.1-nano", "search", provider.Options{Search: true}, nil},
		{"a field of the adapter", "gpt-5", "extra", provider.Options{Extra: extra(`{"store":true}`)}, nil},
		{"a field of the options", "gpt-5", "extra", provider.Options{Effort: provider.EffortLow, Extra: extra(`{"reasoning":{"effort":"high"}}`)}, nil},
		{"no stream", "gpt-5", "extra", provider.Options{Extra: extra(`{"stream":false}`)}, nil},
		{"a secret", "gpt-5", "header", provider.Options{Header: map[string]string{"Authorization": "Bearer x"}}, nil},
		{"the SDK's header", "gpt-5", "header", provider.Options{Header: map[string]string{"x-stainless-lang": "x"}}, nil},
		{"audio", "gpt-5", "parts", provider.Options{}, []provider.Part{{Type: "audio/wav"}}},
		{"a blind model", "gpt-3.5-turbo", "image", provider.Options{}, []provider.Part{{Type: "image/png"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := openai.New(canary)
			p.Client = &http.Client{Transport: transport(func(*http.Request) *http.Response {
				t.Error("a request was sent")
				return nil
			})}
			req := request()
			req.Model, req.Options, req.Last.Parts = tt.model, &tt.o, tt.parts
			_, err := ask(t, p, req)
			for _, err := range []error{err, p.Vet(req)} {
				e := failure(t, err, provider.KindValidation)
				assert.True(t, e.NotSent)
				assert.Equal(t, tt.code, e.Code)
			}
			has, err := p.Abilities(t.Context(), tt.model)
			require.NoError(t, err)
			if able, known := has[provider.Ability(tt.code)]; known && tt.name != "thinks always" {
				assert.False(t, able)
			}
		})
	}
}

// A server whose API is Chat Completions is asked there for what the other API has no words for.
func TestAbilitiesOfAnAPI(t *testing.T) {
	p := openai.New(canary)
	has, err := p.Abilities(t.Context(), "gpt-5.1")
	require.NoError(t, err)
	for ability, want := range map[provider.Ability]bool{
		provider.AbilityStop: false, provider.AbilitySeed: false, provider.AbilityEffort: true, provider.AbilityVerbosity: true,
		provider.AbilitySearch: true, provider.AbilityImage: true, provider.AbilityServiceTier: true,
	} {
		able, known := has[ability]
		assert.True(t, known, ability)
		assert.Equal(t, want, able, ability)
	}
	assert.NotContains(t, has, provider.AbilityTopP, "it depends on the effort")

	p.BaseURL, p.API = "http://localhost:1/v1", openai.Responses
	has, err = p.Abilities(t.Context(), "gpt-4")
	require.NoError(t, err)
	assert.Equal(t, provider.Abilities{provider.AbilityStop: false, provider.AbilitySeed: false}, has, "whose model that is, is unknown")

	req := request()
	req.Options = &provider.Options{Stop: []string{"END"}}
	for _, p.API = range []openai.API{openai.ChatCompletions, openai.Auto} {
		require.NoError(t, p.Vet(req))
		has, err = p.Abilities(t.Context(), "gpt-4")
		require.NoError(t, err)
		able, known := has[provider.AbilityStop]
		assert.True(t, able || !known)
	}
	p.API = "other"
	failure(t, p.Vet(req), provider.KindValidation)
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
	assert.Equal(t, "search", failure(t, err, provider.KindValidation).Code)
	assert.Empty(t, paths)
	req.Options = &provider.Options{Stop: []string{"END"}}
	for range 2 {
		_, err = ask(t, p, req)
		require.NoError(t, err)
	}
	assert.Equal(t, []string{"/v1/chat/completions", "/v1/chat/completions"}, paths)
}
