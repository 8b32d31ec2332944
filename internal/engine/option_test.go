package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// What a seat asks for beyond text is in its requests, and in the record of each attempt.
func TestOptionsOfASeatAreInItsRequests(t *testing.T) {
	config := stage.TwoDebaters()
	ada := &provider.Options{
		Effort: provider.EffortHigh, TopP: new(0.9), Stop: []string{"END"}, Seed: new(int64(7)), ServiceTier: "flex",
		Verbosity: provider.VerbosityLow, Search: true, Extra: stage.TopK("40"), Header: map[string]string{"X-Team": "blue"},
	}
	judge := &provider.Options{Effort: provider.EffortMax}
	config.Participants[0].Options, config.Judging.Judges[0].Options = ada, judge
	var source *scripted.Provider
	events, err := stage.OnClock(t, config, func(_ *debate.Engine, p *scripted.Provider) { source = p })
	require.NoError(t, err)
	want := map[string]*provider.Options{"Ada": ada, "judge": judge}
	for _, request := range source.Requests() {
		assert.Equal(t, want[request.Self], request.Options, request.Self)
	}
	for _, e := range events {
		if intent := body.As[flow.Intent](e); intent != nil {
			assert.Equal(t, want[intent.By], intent.Options, intent.Call)
			assert.Empty(t, intent.Left)
		}
	}
}

// A fallback is asked without what it surely lacks, and its intent says so.
func TestAFallbackIsAskedWithoutWhatItLacks(t *testing.T) {
	config := stage.TwoDebaters()
	config.Judging, config.Rounds = nil, 1
	ada := &config.Participants[0]
	ada.Fallbacks, ada.Options = []string{"test/plain"}, &provider.Options{Effort: provider.EffortHigh, Seed: new(int64(1))}
	var asked []*provider.Options
	events, err := stage.OnClock(t, config, func(e *debate.Engine, p *scripted.Provider) {
		e.Models["test/plain"] = e.Models[ada.Model]
		lacking(e, provider.AbilityEffort, "plain")
		stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
			if req.Self == ada.Name {
				if asked = append(asked, req.Options); req.Model != "plain" {
					r.Err = &provider.Error{Kind: provider.KindValidation, Status: 404}
				}
			}
		})
	})
	require.NoError(t, err)
	assert.Equal(t, []*provider.Options{ada.Options, {Seed: new(int64(1))}}, asked)
	core := stage.CoreOf(t, &debate.Engine{}, "left", events)
	assert.Equal(t, []flow.LeftOut{{Model: "test/plain", What: []string{"effort"}}}, core.Record().LeftOut())
	assert.Contains(t, stage.View(core.Record()).Outcome().Degraded, "the model test/plain was asked without effort")
	for _, e := range events {
		if intent := body.As[flow.Intent](e); intent != nil && intent.Model == "test/plain" {
			assert.Equal(t, []provider.Ability{provider.AbilityEffort}, intent.Left)
		}
	}
}

// A config that asks a model for what it surely lacks is told before anything is paid.
func TestValidateNamesWhatAModelLacks(t *testing.T) {
	config := stage.TwoDebaters()
	config.Participants[1].Options = &provider.Options{Effort: provider.EffortLow, Search: true, Verbosity: provider.VerbosityLow}
	engine, source := stage.Engine(config)
	lacking(engine, provider.AbilityEffort, "debater")
	_, err := engine.Start(t.Context(), config)
	require.ErrorIs(t, err, flow.ErrUnsupported)
	assert.Equal(t, []string{"participants[1].options.effort"}, stage.FieldsOf(t, err))
	assert.Empty(t, source.Requests())
}

// So does the embedded table: a vendor may have no field for an option, and a model may not think. A row of the host program counts
// instead.
func TestWhatTheTableSaysThatAModelLacks(t *testing.T) {
	all := provider.Options{
		Effort: provider.EffortHigh, TopP: new(0.9), Stop: []string{"END"}, Seed: new(int64(1)), Verbosity: provider.VerbosityLow,
		Reasoning: provider.ReasoningAsk,
	}
	for _, tc := range []struct {
		model, vendor string
		lacks         []string
	}{
		{"openai/gpt-4.1", "", []string{"effort", "reasoning"}},
		{"openai/gpt-5-mini", "", nil},
		{"anthropic/claude-haiku-4-5", "", []string{"seed", "verbosity"}},
		{"anthropic/claude-next", "anthropic", []string{"seed", "verbosity"}}, // newer than the table
		{"mine/claude-next", "anthropic", []string{"seed", "verbosity"}},
		{"mine/gpt-4.1", "openai", []string{"effort", "reasoning"}},
		{"mine/gpt-4.1", "", nil}, // nobody knows whose it is
		{"google/gemini-2.5-flash", "google", []string{"verbosity"}},
	} {
		config := stage.TwoDebaters()
		config.Participants[0].Model, config.Participants[0].Options = tc.model, &all
		engine, _ := stage.Engine(config)
		host, _, _ := flow.SplitModel(tc.model)
		engine.Providers[host] = &scripted.Provider{VendorName: tc.vendor}
		var want []string
		for _, ability := range tc.lacks {
			want = append(want, "participants[0].options."+ability)
		}
		if err := engine.Validate(t.Context(), config); want != nil {
			assert.Equal(t, want, stage.FieldsOf(t, err), "%+v", tc)
		} else {
			require.NoError(t, err, "%+v", tc)
		}
		engine.Models[tc.model] = debate.Model{}
		engine = &debate.Engine{Providers: engine.Providers, Models: engine.Models, Logger: engine.Logger}
		require.NoError(t, engine.Validate(t.Context(), config), "%+v", tc)
	}
}

func TestValidateRefusesOptionsThatNoVendorTakes(t *testing.T) {
	for name, tc := range map[string]struct {
		options provider.Options
		field   string
	}{
		"an effort":              {provider.Options{Effort: "huge"}, "effort"},
		"top_p of 0":             {provider.Options{TopP: new(0.0)}, "topP"},
		"top_p above 1":          {provider.Options{TopP: new(1.1)}, "topP"},
		"five stops":             {provider.Options{Stop: strings.Split("abcde", "")}, "stop"},
		"an empty stop":          {provider.Options{Stop: []string{""}}, "stop"},
		"a tier of two words":    {provider.Options{ServiceTier: "very fast"}, "serviceTier"},
		"a verbosity":            {provider.Options{Verbosity: "chatty"}, "verbosity"},
		"reasoning":              {provider.Options{Reasoning: "loud"}, "reasoning"},
		"extra that is no JSON":  {provider.Options{Extra: stage.TopK("[1")}, "extra"},
		"extra that is blank":    {provider.Options{Extra: stage.TopK("")}, "extra"},
		"extra with a key twice": {provider.Options{Extra: stage.TopK(`{"a":1,"a":2}`)}, "extra"},
		"an Authorization":       {provider.Options{Header: map[string]string{"Authorization": "x"}}, "header"},
		"an X-Api-Key":           {provider.Options{Header: map[string]string{"x-api-key": "x"}}, "header"},
		"an api_key":             {provider.Options{Header: map[string]string{"Api_Key": "x"}}, "header"},
		"an X-JWT":               {provider.Options{Header: map[string]string{"X-JWT": "x"}}, "header"},
		"a key as a value":       {provider.Options{Header: map[string]string{"X-Trace": "Bearer sk-proj-abcdefghijklmnopqrstuvwx1"}}, "header"},
		"a token as a value":     {provider.Options{Header: map[string]string{"X-Trace": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0x.c2ln"}}, "header"},
		"extra with a key":       {provider.Options{Extra: stage.TopK(`{"deep":["sk-proj-abcdefghijklmnopqrstuvwx1"]}`)}, "extra"},
		"extra with an api_key":  {provider.Options{Extra: stage.TopK(`{"mcp":[{"api_key":"hunter2"}]}`)}, "extra"},
		"extra with a login":     {provider.Options{Extra: stage.TopK(`"https://ada:hunter2@example.com/"`)}, "extra"},
		"a Cookie":               {provider.Options{Header: map[string]string{"Cookie": "x"}}, "header"},
		"a signature":            {provider.Options{Header: map[string]string{"X-Hub-Signature": "x"}}, "header"},
		"a Content-Type":         {provider.Options{Header: map[string]string{"content-type": "x"}}, "header"},
		"a broken name":          {provider.Options{Header: map[string]string{"a b": "x"}}, "header"},
		"a broken value":         {provider.Options{Header: map[string]string{"A": "x\r\nB: y"}}, "header"},
		"a name twice":           {provider.Options{Header: map[string]string{"A": "x", "a": "y"}}, "header"},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Participants[0].Options, config.Judging.Judges[0].Options = &tc.options, &tc.options
			config.Audience = &debate.Audience{Members: []debate.Member{{Model: "test/voter", Options: &tc.options}}}
			config.AssignPositions, config.Summarizer = &debate.AssignPositions{Options: &tc.options}, "test/summarizer"
			config.SummarizerOptions = &tc.options
			engine, _ := stage.Engine(config)
			err := engine.Validate(t.Context(), config)
			require.Error(t, err)
			var want []string
			for _, seat := range []string{
				"assignPositions.options", "audience.members[0].options", "judging.judges[0].options", "participants[0].options", "summarizerOptions",
			} {
				want = append(want, seat+"."+tc.field)
			}
			assert.Equal(t, want, stage.FieldsOf(t, err))
		})
	}
}
