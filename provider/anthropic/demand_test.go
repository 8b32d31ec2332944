package anthropic_test

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/anthropic"
)

func fields(t *testing.T, s string) (m map[string]json.RawMessage) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(s), &m))
	return m
}

func TestOptions(t *testing.T) {
	high := 0.97
	for name, tt := range map[string]struct {
		model string
		o     provider.Options
	}{
		"effort":          {"claude-opus-4-7", provider.Options{Effort: provider.EffortMinimal}},
		"effort_max":      {"claude-sonnet-4-6", provider.Options{Effort: provider.EffortMax}},
		"effort_budget":   {"claude-haiku-4-5", provider.Options{Effort: provider.EffortMedium}},
		"effort_both":     {"claude-opus-4-5", provider.Options{Effort: provider.EffortMax, TopP: &high}},
		"effort_none":     {"claude-opus-4-6", provider.Options{Effort: provider.EffortNone}},
		"effort_none_old": {"claude-sonnet-4-5", provider.Options{Effort: provider.EffortNone}},
		"effort_none_new": {"claude-sonnet-5-5", provider.Options{Effort: provider.EffortNone}},
		"topP":            {"claude-haiku-4-5", provider.Options{TopP: &high}},
		"stop":            {"claude-haiku-4-5", provider.Options{Stop: []string{"END", "\n\nBen:"}}},
		"tier":            {"claude-haiku-4-5", provider.Options{ServiceTier: "standard_only"}},
		"search":          {"claude-haiku-4-5", provider.Options{Search: true}},
		"reasoning":       {"claude-opus-4-8", provider.Options{Reasoning: provider.ReasoningAsk}},
		"reasoning_old":   {"claude-sonnet-4", provider.Options{Reasoning: provider.ReasoningAsk, Effort: provider.EffortLow}},
		"extra":           {"claude-haiku-4-5", provider.Options{Extra: fields(t, `{"inference_geo":"<us>","metadata":{"user_id":"u1"}}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			p, bodies := recording(t)
			req := talk()
			req.Model, req.Options = tt.model, &tt.o
			require.NoError(t, p.Vet(&req))
			_, _, err := ask(t, p, &req)
			require.NoError(t, err)
			_, err = p.CountTokens(t.Context(), &req)
			require.NoError(t, err)
			golden(t, "option/"+name+".json", readable(t, (*bodies)[0])+readable(t, (*bodies)[1]))
		})
	}
}

func TestParts(t *testing.T) {
	p, bodies := recording(t)
	req := talk()
	parts := []provider.Part{
		{Type: "image/png", Data: []byte("png")},
		{Type: "application/pdf", Name: "plan.pdf", Data: []byte("pdf")},
		{Type: "text/plain; charset=utf-8", Data: []byte("<plain>")},
	}
	req.Messages[0].Parts, req.Messages[1].Parts, req.Messages[2].Parts, req.Last.Parts = parts, parts[:1], parts[:1], parts[1:2]
	require.NoError(t, p.Vet(&req))
	_, _, err := ask(t, p, &req)
	require.NoError(t, err)
	_, err = p.CountTokens(t.Context(), &req)
	require.NoError(t, err)
	golden(t, "option/parts.json", readable(t, (*bodies)[0])+readable(t, (*bodies)[1]))
}

func TestOptionHeader(t *testing.T) {
	var header http.Header
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		say(w)
	})
	req := request()
	req.Options = &provider.Options{Header: map[string]string{"anthropic-beta": "one,two"}}
	_, _, err := ask(t, p, req)
	require.NoError(t, err)
	assert.Equal(t, "one,two", header.Get("Anthropic-Beta"))
}

// What the API has no words for fails before anything is sent, in the same way as Vet says.
func TestUnwritableOptions(t *testing.T) {
	half, seed := 0.5, int64(1)
	for _, tt := range []struct {
		name, model, code string
		o                 provider.Options
		part              string
	}{
		{"seed", "claude-x", "seed", provider.Options{Seed: &seed}, ""},
		{"verbosity", "claude-x", "verbosity", provider.Options{Verbosity: provider.VerbosityLow}, ""},
		{"thinks always", "claude-opus-5", "effort", provider.Options{Effort: provider.EffortNone}, ""},
		{"thinks always too", "claude-mythos-preview", "effort", provider.Options{Effort: provider.EffortNone}, ""},
		{"thinks never", "claude-3-5-haiku-latest", "effort", provider.Options{Effort: provider.EffortLow}, ""},
		{"shows no thoughts", "claude-3-opus-20240229", "reasoning", provider.Options{Reasoning: provider.ReasoningAsk}, ""},
		{"no sampling", "us.anthropic.claude-opus-4-7-v1:0", "topP", provider.Options{TopP: &half}, ""},
		{"no sampling of thinkers", "claude-haiku-4-5", "topP", provider.Options{TopP: &half, Effort: provider.EffortHigh}, ""},
		{"no search", "claude-3-opus-20240229", "search", provider.Options{Search: true}, ""},
		{"stop at nothing", "claude-x", "stop", provider.Options{Stop: []string{"\n"}}, ""},
		{"a field of the adapter", "claude-x", "extra", provider.Options{Extra: fields(t, `{"max_tokens":9}`)}, ""},
		{"a field of the options", "claude-x", "extra", provider.Options{Stop: []string{"a"}, Extra: fields(t, `{"stop_sequences":["b"]}`)}, ""},
		{"no stream", "claude-x", "extra", provider.Options{Extra: fields(t, `{"stream":false}`)}, ""},
		{"a secret", "claude-x", "header", provider.Options{Header: map[string]string{"x-api-key": "x"}}, ""},
		{"the version", "claude-x", "header", provider.Options{Header: map[string]string{"anthropic-version": "x"}}, ""},
		{"audio", "claude-x", "parts", provider.Options{}, "audio/wav"},
		{"a text that is none", "claude-x", "parts", provider.Options{}, "text/plain"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, bodies := recording(t)
			req := request()
			req.Model, req.Options, req.MaxTokens = tt.model, &tt.o, 9000
			if tt.part != "" {
				req.Last.Parts = []provider.Part{{Type: tt.part, Data: []byte{0xff}}}
			}
			_, _, err := ask(t, p, req)
			for _, err := range []error{err, p.Vet(req)} {
				e := failure(t, err, provider.KindValidation)
				assert.True(t, e.NotSent)
				assert.Equal(t, tt.code, e.Code)
			}
			assert.Empty(t, *bodies)
		})
	}
	p, _ := recording(t)
	req := request()
	req.Options, req.Tools = &provider.Options{Search: true}, []provider.Tool{{Name: "web_search"}}
	failure(t, p.Vet(req), provider.KindValidation)
}

// A budget stays below the limit of output, and leaves the rest of it to the reply.
func TestBudgetsOfEfforts(t *testing.T) {
	for _, tt := range []struct {
		effort    provider.Effort
		max, want int
	}{
		{provider.EffortMinimal, 20000, 2000},
		{provider.EffortMinimal, 4000, 1024},
		{provider.EffortLow, 20000, 4000},
		{provider.EffortMedium, 20000, 10000},
		{provider.EffortHigh, 20000, 16000},
		{provider.EffortMax, 20000, 19000},
		{provider.EffortMax, 1100, 1045},
		{provider.EffortMax, 1024, 0},
		{provider.EffortHigh, 0, 3276},
	} {
		p, bodies := recording(t)
		req := request()
		req.Model, req.MaxTokens, req.Options = "claude-haiku-4-5", tt.max, &provider.Options{Effort: tt.effort}
		_, _, err := ask(t, p, req)
		require.NoError(t, err)
		var body struct {
			MaxTokens int `json:"max_tokens"`
			Thinking  struct {
				Budget int `json:"budget_tokens"`
			}
		}
		require.NoError(t, json.Unmarshal((*bodies)[0], &body))
		assert.Equal(t, tt.want, body.Thinking.Budget, tt)
		assert.Less(t, body.Thinking.Budget, body.MaxTokens)
	}
}

func TestAbilities(t *testing.T) {
	describe := func(t *testing.T, status int, answer string) *anthropic.Provider {
		t.Helper()
		return serve(t, func(w http.ResponseWriter, r *http.Request) {
			assert.Equal(t, "/v1/models/claude-haiku-4-5", r.URL.Path)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, answer)
		})
	}
	// The vendor's description counts more than the name.
	p := describe(t, 200, `{"type":"model","id":"claude-haiku-4-5","capabilities":{"effort":{"supported":false},"thinking":{"supported":false,`+
		`"types":{"enabled":{"supported":false}}},"image_input":{"supported":false},"pdf_input":{"supported":true},`+
		`"structured_outputs":{"supported":true},"server_tools":{"supported":true,"web_search":{"supported":false}}}}`)
	has, err := p.Abilities(t.Context(), "claude-haiku-4-5")
	require.NoError(t, err)
	assert.Equal(t, provider.Abilities{
		provider.AbilityTemperature: true, provider.AbilityTopP: true, provider.AbilityStop: true, provider.AbilitySeed: false,
		provider.AbilityServiceTier: true, provider.AbilityVerbosity: false, provider.AbilityEffort: false, provider.AbilityReasoning: false,
		provider.AbilitySearch: false, provider.AbilityImage: false, provider.AbilityPDF: true, provider.AbilitySchema: true,
	}, has)
	for _, answer := range []string{`{"id":"claude-haiku-4-5"}`, `{"id":"claude-haiku-4-5","capabilities":7}`, `nothing`} {
		has, err = describe(t, 200, answer).Abilities(t.Context(), "claude-haiku-4-5")
		require.NoError(t, err)
		assert.True(t, has[provider.AbilityEffort], "what the name says")
	}
	has, err = describe(t, 404, `{}`).Abilities(t.Context(), "claude-haiku-4-5")
	require.NoError(t, err)
	assert.True(t, has[provider.AbilityEffort])
}

func TestModelNames(t *testing.T) {
	for model, topP := range map[string]string{
		"claude-opus-4-7": "false", "claude-opus-4-7-20260101": "false", "anthropic/claude-opus-4.8": "false", "claude-sonnet-5@default": "false",
		"claude-haiku-5-5": "false", "claude-opus-4-6": "true", "claude-opus-4-20250514": "true", "claude-3-7-sonnet-latest": "true",
		"claude-x": "", "claude-2.1": "", "another": "",
	} {
		has, err := played("HTTP/1.1 404 Not Found\r\n\r\n").Abilities(t.Context(), model)
		require.NoError(t, err)
		able, known := has[provider.AbilityTopP]
		assert.Equal(t, topP != "", known, model)
		assert.Equal(t, topP == "true", able, model)
	}
}
