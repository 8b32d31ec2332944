package google_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/google"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

func TestOptions(t *testing.T) {
	half, seed := 0.5, int64(-7)
	for name, tt := range map[string]struct {
		model string
		o     provider.Options
	}{
		"effort":        {"gemini-3-flash-preview", provider.Options{Effort: provider.EffortMinimal}},
		"effort_budget": {"gemini-2.5-pro", provider.Options{Effort: provider.EffortMedium}},
		"effort_none":   {"gemini-2.5-flash", provider.Options{Effort: provider.EffortNone}},
		"sampling":      {"gemini-2.5-flash", provider.Options{TopP: &half, Seed: &seed, Stop: []string{"END", "\nBen:"}}},
		"tier":          {"gemini-2.5-flash", provider.Options{ServiceTier: "flex"}},
		"search":        {"gemini-2.5-flash", provider.Options{Search: true}},
		"reasoning":     {"gemini-3-pro-preview", provider.Options{Reasoning: provider.ReasoningAsk}},
		"extra": {"gemini-2.5-flash", provider.Options{
			Effort: provider.EffortLow, Extra: adaptertest.Fields(t, `{"generationConfig":{"topK":40,"thinkingConfig":{"includeThoughts":true}},"labels":{"a":"<b>"}}`),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p, all := serve(t, 200, yes)
			req := request()
			req.Model, req.Options, req.MaxTokens = tt.model, &tt.o, 20000
			adaptertest.Answer(t, p, req)
			golden(t, "option/"+name+".json", pretty(t, (*all)[0].body))
		})
	}
}

func TestParts(t *testing.T) {
	p, all := serve(t, 200, yes)
	req := request()
	parts := []provider.Part{{Type: "image/png", Data: []byte("png")}, {Type: "application/pdf", Name: "plan.pdf", Data: []byte("pdf")}}
	req.Messages = []provider.Message{
		{Text: "The topic is cars.", Parts: parts}, {Speaker: "Ada", Text: "Mine."}, {Speaker: "Ben", Fence: "f7Qx", Text: "See.", Parts: parts[:1]},
	}
	req.Last.Parts = parts[1:]
	adaptertest.Answer(t, p, req)
	golden(t, "option/parts.json", pretty(t, (*all)[0].body))
}

func TestEfforts(t *testing.T) {
	const low, medium, high, minimal = "LOW", "MEDIUM", "HIGH", "MINIMAL"
	for _, tt := range []struct {
		model string
		max   int
		want  [6]any // for none, minimal, low, medium, high, max: a level, or a budget; nil: it is refused
	}{
		{"gemini-2.5-flash", 0, [6]any{0.0, 512.0, 1024.0, 8192.0, 24576.0, 24576.0}},
		{"models/gemini-2.5-flash-lite", 0, [6]any{0.0, 512.0, 1024.0, 8192.0, 24576.0, 24576.0}},
		{"gemini-2.5-pro", 0, [6]any{nil, 512.0, 1024.0, 8192.0, 24576.0, 32768.0}},
		{"gemini-2.5-flash", 2000, [6]any{0.0, 512.0, 1024.0, 1500.0, 1500.0, 1500.0}},
		{"gemini-2.5-pro", 100, [6]any{nil, 128.0, 128.0, 128.0, 128.0, 128.0}},
		{"gemini-3-pro-preview", 0, [6]any{nil, low, low, low, high, high}},
		{"gemini-3.1-pro-preview", 0, [6]any{nil, low, low, medium, high, high}},
		{"gemini-3-flash-preview", 0, [6]any{nil, minimal, low, medium, high, high}},
		{"gemini-3.5-flash-lite", 0, [6]any{nil, minimal, low, medium, high, high}},
		{"gemini-4-argon", 0, [6]any{nil, low, low, medium, high, high}},
		{"gemini-flash-latest", 0, [6]any{0.0, minimal, low, medium, high, high}},
		{"gemini-2.0-flash", 0, [6]any{}},
	} {
		for i, effort := range provider.Efforts() {
			p, all := serve(t, 200, yes)
			p.Thinking = &google.Thinking{Budget: new(int32(7)), IncludeThoughts: true}
			req := request()
			req.Model, req.MaxTokens, req.Options = tt.model, tt.max, &provider.Options{Effort: effort}
			_, _, err := ask(t, p, req)
			if tt.want[i] == nil {
				e := failure(t, err, provider.KindValidation)
				assert.Equal(t, "effort", e.Code)
				assert.True(t, e.NotSent)
				continue
			}
			require.NoError(t, err)
			var body struct {
				GenerationConfig struct{ ThinkingConfig map[string]any }
			}
			require.NoError(t, json.Unmarshal((*all)[0].body, &body))
			field, other := "thinkingBudget", "thinkingLevel"
			if _, level := tt.want[i].(string); level {
				field, other = other, field
			}
			assert.Equal(t, tt.want[i], body.GenerationConfig.ThinkingConfig[field], "%s %s", tt.model, effort)
			assert.NotContains(t, body.GenerationConfig.ThinkingConfig, other)
		}
	}
}

// What the API has no words for fails before anything is sent.
func TestUnwritableOptions(t *testing.T) {
	seed := int64(math.MaxInt32 + 1)
	p, all := serve(t, 200, yes)
	adaptertest.Refused(t, p, request, func() int { return len(*all) }, []adaptertest.Unwritable{
		{Name: "verbosity", Model: "gemini-3-flash", Code: "verbosity", Options: provider.Options{Verbosity: provider.VerbosityLow}},
		{Name: "a long seed", Model: "gemini-3-flash", Code: "seed", Options: provider.Options{Seed: &seed}},
		{Name: "thinks never", Model: "gemini-2.0-flash", Code: "effort", Options: provider.Options{Effort: provider.EffortLow}},
		{Name: "shows no thoughts", Model: "gemini-1.5-pro", Code: "reasoning", Options: provider.Options{Reasoning: provider.ReasoningAsk}},
		{
			Name: "in another spelling", Model: "gemini-3-flash", Code: "extra",
			Options: provider.Options{Extra: adaptertest.Fields(t, `{"generation_config":{"topK":1}}`)},
		},
		{
			Name: "a second reply", Model: "gemini-3-flash", Code: "extra",
			Options: provider.Options{Extra: adaptertest.Fields(t, `{"generationConfig":{"candidateCount":2}}`)},
		},
		{Name: "a secret", Model: "gemini-3-flash", Code: "header", Options: provider.Options{Header: map[string]string{"x-goog-api-key": "x"}}},
		{Name: "a word file", Model: "gemini-3-flash", Code: "parts", Part: "application/msword"},
	})
	req := request()
	req.Options, req.Tools = &provider.Options{Search: true}, []provider.Tool{{Name: "lookup"}}
	_, _, err := ask(t, p, req)
	assert.Equal(t, "search", failure(t, err, provider.KindValidation).Code)
	assert.Empty(t, *all)
}
