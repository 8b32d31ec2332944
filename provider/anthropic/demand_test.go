package anthropic_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

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
		"extra":           {"claude-haiku-4-5", provider.Options{Extra: adaptertest.Fields(t, `{"inference_geo":"<us>","metadata":{"user_id":"u1"}}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			p, bodies := recording(t)
			req := talk()
			req.Model, req.Options = tt.model, &tt.o
			adaptertest.Answer(t, p, &req)
			golden(t, "option/"+name+".json", readable(t, (*bodies)[0]))
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
	adaptertest.Answer(t, p, &req)
	golden(t, "option/parts.json", readable(t, (*bodies)[0]))
}

// What the API has no words for fails before anything is sent.
func TestUnwritableOptions(t *testing.T) {
	half, seed := 0.5, int64(1)
	p, bodies := recording(t)
	roomy := func() *provider.Request {
		req := request()
		req.MaxTokens = 9000
		return req
	}
	adaptertest.Refused(t, p, roomy, func() int { return len(*bodies) }, []adaptertest.Unwritable{
		{Name: "seed", Model: "claude-x", Code: "seed", Options: provider.Options{Seed: &seed}},
		{Name: "verbosity", Model: "claude-x", Code: "verbosity", Options: provider.Options{Verbosity: provider.VerbosityLow}},
		{Name: "thinks always", Model: "claude-opus-5", Code: "effort", Options: provider.Options{Effort: provider.EffortNone}},
		{Name: "thinks always too", Model: "claude-mythos-preview", Code: "effort", Options: provider.Options{Effort: provider.EffortNone}},
		{Name: "thinks never", Model: "claude-3-5-haiku-latest", Code: "effort", Options: provider.Options{Effort: provider.EffortLow}},
		{Name: "shows no thoughts", Model: "claude-3-opus-20240229", Code: "reasoning", Options: provider.Options{Reasoning: provider.ReasoningAsk}},
		{Name: "no sampling of thinkers", Model: "claude-haiku-4-5", Code: "topP", Options: provider.Options{TopP: &half, Effort: provider.EffortHigh}},
		{Name: "stop at nothing", Model: "claude-x", Code: "stop", Options: provider.Options{Stop: []string{"\n"}}},
		{
			Name: "a field of the options", Model: "claude-x", Code: "extra",
			Options: provider.Options{Stop: []string{"a"}, Extra: adaptertest.Fields(t, `{"stop_sequences":["b"]}`)},
		},
		{Name: "the version", Model: "claude-x", Code: "header", Options: provider.Options{Header: map[string]string{"anthropic-version": "x"}}},
		{Name: "audio", Model: "claude-x", Code: "parts", Part: "audio/wav"},
		{Name: "a text that is none", Model: "claude-x", Code: "parts", Part: "text/plain"},
	})
	req := request()
	req.Options, req.Tools = &provider.Options{Search: true}, []provider.Tool{{Name: "web_search"}}
	_, _, err := ask(t, p, req)
	failure(t, err, provider.KindValidation)
	assert.Empty(t, *bodies)
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
		adaptertest.Answer(t, p, req)
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

// What the name of a model says of its thinking, whatever stands around it.
func TestModelNames(t *testing.T) {
	for model, want := range map[string]string{
		"claude-opus-4-7": "adaptive", "claude-opus-4-7-20260101": "adaptive", "anthropic/claude-opus-4.8": "adaptive",
		"claude-sonnet-5@default": "adaptive", "us.anthropic.claude-opus-4-7-v1:0": "adaptive", "claude-haiku-5-5": "adaptive",
		"claude-opus-4-6": "adaptive", "claude-opus-4-20250514": "enabled", "claude-3-7-sonnet-latest": "enabled",
		"claude-3-5-haiku-latest": "", "claude-x": "adaptive", "claude-2.1": "adaptive", "another": "adaptive",
	} {
		p, bodies := recording(t)
		req := request()
		req.Model, req.MaxTokens, req.Options = model, 20000, &provider.Options{Effort: provider.EffortHigh}
		_, _, err := ask(t, p, req)
		if want == "" {
			assert.Equal(t, "effort", failure(t, err, provider.KindValidation).Code, model)
			continue
		}
		require.NoError(t, err)
		var body struct{ Thinking struct{ Type string } }
		require.NoError(t, json.Unmarshal((*bodies)[0], &body))
		assert.Equal(t, want, body.Thinking.Type, model)
	}
}
