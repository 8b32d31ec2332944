package flow_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// everyField is a valid config of which every field is set, with everything inside.
func everyField() debate.Config {
	return debate.Config{
		Topic: "Should cities ban cars?", Format: "own",
		Attachments: []flow.File{{Name: "chart.png", Type: "image/png", Hash: strings.Repeat("a", 64), Size: 9, URL: "https://example.com/chart"}},
		Documents: []flow.Document{{
			Name: "The study", Files: []flow.File{{Name: "s.pdf", Type: "application/pdf", Hash: strings.Repeat("b", 64), Size: 9, Pages: 2}},
		}},
		Language: "German", Prompts: map[string]string{"turn": "Speak in round {{.Round}}."},
		CustomFormat: &debate.Format{
			Name: "own", Guidance: "Be brief.", MinParticipants: 2, MaxParticipants: 5, Chair: debate.Neutral, Rounds: 4,
			Seats: []format.Seats{
				{Side: debate.For, Min: 1, Max: 2, Role: "Speak for it."},
				{Side: debate.Against, Min: 1, Max: 2, Role: "Speak against it."},
				{Side: debate.Neutral, Min: 1, Max: 2, Role: "Lead."},
			},
			Phases: []format.Phase{{
				Name: "talk", First: 1, Last: -1, Instruction: "Talk.", Back: 2,
				Slots: []format.Slot{
					{Who: "for:1", Kind: "speech", Words: 90, MaxTokens: 300, Minutes: 2, Instruction: "Speak.", Group: 1},
					{Who: format.TheChair, To: format.Others, Exchanges: 1, Instruction: "Ask.", Answer: "Answer."},
				},
			}},
			Reads: format.Reads{Graph: format.GivenEdges, Edges: map[string][]string{"Ada": {"Ben"}}},
			End:   format.EndByRounds, Watch: []format.Detector{format.DetectDrift}, StopOn: []format.Detector{format.DetectRepetition},
			Decide: format.ByJudges,
		},
		Mode: debate.Simultaneous, Rounds: 4,
		Participants: []debate.Participant{
			{
				Name: "Ada", Side: debate.For, Position: "Yes.", Persona: "A nurse", Instructions: "Be kind.", Model: "test/debater",
				Fallbacks: []string{"test/spare"}, Temperature: new(0.7), MaxTokens: 900,
				Options:  everyOption(),
				Metadata: map[string]string{"user": "7"},
			},
			{Name: "Ben", Side: debate.Against, Model: "test/debater", Metadata: map[string]string{"user": "8"}},
			{Name: "Mia", Side: debate.Neutral, Model: "test/debater", Metadata: map[string]string{"user": "9"}},
		},
		Judging: &debate.Judging{
			Judges: []debate.JudgeConfig{
				{Name: "Iris", Model: "test/judge", Fallbacks: []string{"test/spare"}, Temperature: new(0.3), MaxTokens: 800, Options: everyOption()},
				{Name: "Juno", Judge: "cato"},
				{Name: "Kim", Person: true},
			},
			Quorum: 2, Protocol: debate.Plurality, When: debate.AtEnd, BothOrders: true, Anonymous: true, AllowSameFamily: true,
			Rubric: &debate.Rubric{Criteria: []debate.Criterion{
				{Name: "wit", Weight: 40, Low: "none", High: "much"}, {Name: "sense", Weight: 60, Low: "none", High: "much"},
			}},
		},
		Audience: &debate.Audience{Members: []debate.Member{
			{Name: "Mo", Model: "test/voter", Persona: "A driver", Fallbacks: []string{"test/spare"}, Options: everyOption()},
			{Name: "Noor", Judge: "cato"},
			{Name: "Oz", Person: true},
		}},
		AssignPositions: &debate.AssignPositions{Model: "test/judge", Fallbacks: []string{"test/spare"}, Diversity: debate.Binary, Temperature: new(0.5), Options: everyOption()},
		Watch:           []format.Detector{format.DetectDiminishing}, StopOn: []format.Detector{format.DetectDrift},
		Budget: &debate.Budget{
			Warn: debate.USD, Confirm: true, Soft: 50 * debate.USD, SoftTokens: 50_000_000, SoftCalls: 5_000, SoftTime: 5 * time.Hour,
			Hard: 90 * debate.USD, HardTokens: 90_000_000, HardCalls: 9_000, HardTime: 9 * time.Hour,
		},
		Unattended: true, Patience: time.Hour, OnFailure: []debate.FailureRule{
			{Calls: []flow.CallKind{debate.KindVerdict}, Kinds: []debate.Kind{provider.KindQuota}, Do: flow.OptionModel, Model: "test/spare"},
		},
		Context: flow.ContextSliding, Summarizer: "test/summarizer", AutoSummary: true, SummarizerOptions: everyOption(),
		TruncateTurns: true, Reserve: 2000, MaxTokens: 1000,
		Temperature: new(0.6), RoundTimeout: time.Hour, TurnTimeout: time.Minute, JudgeTimeout: 2 * time.Minute,
		Retry: &debate.RetryPolicy{
			Max: map[debate.Kind]int{provider.KindNetwork: 1}, Base: time.Second, Cap: time.Minute, Jitter: time.Second, RateLimit: time.Second,
		},
		Labels: map[string]string{"tenant": "blue"}, Tools: []string{"add"},
		ToolPolicy: flow.ToolPolicy{Unknown: flow.OptionAgain, Approval: flow.OptionApprove},
	}
}

// everyOption asks for everything that a request can ask for.
func everyOption() *provider.Options {
	return &provider.Options{
		Effort: provider.EffortLow, TopP: new(0.5), Stop: []string{"END"}, Seed: new(int64(1)), ServiceTier: "flex",
		Verbosity: provider.VerbosityLow, Search: true, Reasoning: provider.ReasoningAsk, Extra: stage.TopK(`{"a":{"b":[1,2]}}`),
		Header: map[string]string{"X-Team": "blue"},
	}
}

// byCriteria is the part of everyField that cannot stand beside the rest.
func byCriteria() debate.Config {
	config := everyField()
	config.Judging.Rubric, config.Judging.Criteria = nil, []string{"wit", "sense"}
	config.CustomFormat.Phases[0].Last = 1
	config.CustomFormat.Phases = append(config.CustomFormat.Phases, format.Phase{Name: "free", First: 2, Last: -1})
	config.Mode = debate.Sequential
	config.Floor = &debate.Floor{Name: "Lea", Model: "test/judge", Fallbacks: []string{"test/spare"}, Options: everyOption()}
	return config
}

// openFlow is the flow of debates under another name.
func openFlow() *debate.Flow {
	flow := debate.DebateFlow()
	flow.Name = "open"
	return flow
}

// A debate that exists is opened by its own config alone: whatever else differs is named, whatever it is.
func TestEveryDifferenceOfConfigsIsNamed(t *testing.T) {
	free := func(path string) bool { // no part of the debate, or what Run sets
		return path == "id" || path == "unattended" || strings.HasPrefix(path, "unattended.")
	}
	bases := map[string]func() debate.Config{"with a rubric": everyField, "with criteria": byCriteria}
	entered, paths := map[string]bool{}, 0
	anywhere := func(path string) string { return regexp.MustCompile(`\[\d+\]`).ReplaceAllString(path, "[]") }
	for name, base := range bases {
		t.Run(name, func(t *testing.T) {
			config := base()
			engine, p := stage.Engine(config)
			engine.Store, engine.Judges = &store.Memory{}, map[string]debate.Judge{"cato": stage.Outsider(nil)}
			engine.Flows = map[string]*debate.Flow{"open": openFlow()}
			engine.Tools = map[string]debate.Tool{"add": new(stage.Tally).MustTool()}
			for _, model := range []string{"spare", "voter", "summarizer"} {
				engine.Models["test/"+model] = engine.Models["test/debater"]
			}
			require.NoError(t, engine.Validate(t.Context(), flow.Named("open", config)))
			frozen, err := kernel.Of(t, engine).Freeze(flow.Named("open", config))
			require.NoError(t, err)
			data, err := json.Marshal(frozen.Config)
			require.NoError(t, err)
			read := func() *debate.Config {
				var stored debate.Config
				require.NoError(t, json.Unmarshal(data, &stored))
				return &stored
			}
			count := len(stage.Leaves(read(), func(path string, holds bool) {
				entered[anywhere(path)] = entered[anywhere(path)] || holds
			}))
			require.Greater(t, count, 150)
			for i := 0; i < count; i += min(longform.Fewer(), 4) {
				config.ID = fmt.Sprintf("stored-%d", i)
				stored := read()
				l := stage.Leaves(stored, nil)[i]
				if name == "with criteria" && !strings.HasPrefix(l.Path, "judging.") && !strings.HasPrefix(l.Path, "floor") {
					continue // that was tried
				}
				l.Change()
				start := frozen
				start.Config, start.Views = flow.Value{Go: stored}, flow.Views{} // which is of all seats
				start.Settings.Participants = stored.Settings().Participants     // the others must be valid
				require.NoError(t, engine.Store.Append(t.Context(), config.ID, 0, "another", []debate.Event{
					{Seq: 1, At: time.Unix(1, 0), Body: &start},
					{Seq: 2, At: time.Unix(2, 0), Body: &flow.Transition{
						From: flow.StateReady, To: flow.StateCanceled, On: flow.TriggerCancel,
					}},
				}))
				paths++
				session, err := engine.Start(t.Context(), flow.Named("open", config))
				if free(l.Path) {
					require.NoError(t, err, l.Path)
					assert.Equal(t, flow.StateCanceled, session.State())
					continue
				}
				if err == nil {
					session.Close()
				}
				failure := stage.RequireKind(t, err, provider.KindConflict)
				assert.Equal(t, l.Path, failure.Field, "%v", err)
				assert.Regexp(t, `: it has .+, and .+ is given$`, err.Error())
				assert.Less(t, len(err.Error()), 400)
			}
			assert.Zero(t, p.Calls())
		})
	}
	for path, holds := range entered {
		if strings.HasSuffix(path, "[].data") {
			continue // no stored config holds the bytes of files
		}
		assert.True(t, holds, "nothing is in %s: give everyField something that can be changed", path)
	}
	fmt.Printf("named %d differences of configs\n", paths)
}

// Both values are in the error, as far as they are short.
func TestADifferenceShowsBothValues(t *testing.T) {
	base := func() debate.Config {
		config := stage.TwoDebaters()
		config.ID, config.Labels = "one", map[string]string{"tenant": "blue"}
		return config
	}
	for name, c := range map[string]struct {
		change             func(c *debate.Config)
		field, held, given string
	}{
		"a number":         {func(c *debate.Config) { c.Rounds = 9 }, "rounds", "3", "9"},
		"a text":           {func(c *debate.Config) { c.Topic = "Trams?" }, "topic", `"Should cities ban cars from their centres?"`, `"Trams?"`},
		"a long text":      {func(c *debate.Config) { c.Topic = strings.Repeat("tram ", 900) }, "topic", "cars", "tram"},
		"a hostile text":   {func(c *debate.Config) { c.Topic = "a\nb\x1b[31m" }, "topic", "cars", `a\nb`},
		"nothing there":    {func(c *debate.Config) { c.Participants[1].Persona = "A bear" }, "participants[1].persona", "nothing", `"A bear"`},
		"nothing given":    {func(c *debate.Config) { c.Participants[1].Position = "" }, "participants[1].position", `"No, price them."`, "nothing"},
		"a list":           {func(c *debate.Config) { c.Participants = stage.Crew(3).Participants }, "participants", "2 of them", "3 of them"},
		"a duration":       {func(c *debate.Config) { c.TurnTimeout = time.Hour }, "turnTimeout", `"2m0s"`, `"1h0m0s"`},
		"money":            {func(c *debate.Config) { c.Budget = &debate.Budget{Warn: debate.USD / 4} }, "budget", "nothing", `{"warn":0.25}`},
		"a label":          {func(c *debate.Config) { c.Labels["tenant"] = "red" }, "labels.tenant", `"blue"`, `"red"`},
		"a label more":     {func(c *debate.Config) { c.Labels["trace"] = "1" }, "labels.trace", "nothing", `"1"`},
		"the first of two": {func(c *debate.Config) { c.Topic, c.Rounds = "Trams?", 9 }, "rounds", "3", "9"},
	} {
		t.Run(name, func(t *testing.T) {
			engine, p := stage.Engine(base())
			p.Reply = stage.Everybody(base().Participants)
			stage.Run(t, engine, base())
			other := base()
			c.change(&other)
			_, err := engine.Start(t.Context(), other)
			failure := stage.RequireKind(t, err, provider.KindConflict)
			assert.Equal(t, c.field, failure.Field)
			held, given, found := strings.Cut(failure.Err.Error(), ", and ")
			require.True(t, found)
			assert.Contains(t, held, c.held)
			assert.Contains(t, given, c.given)
			assert.Less(t, len(err.Error()), 400)
			assert.NotContains(t, err.Error(), "\x1b")
		})
	}
}
