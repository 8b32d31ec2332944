package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// seated returns a debate in which the audience, the search for positions and the summarizer have options of their own, and
// fallbacks where they can. The fallback "test/plain" lacks effort. The other models lack what is given.
func seated(t *testing.T, lacks ...provider.Ability) (debate.Config, *debate.Engine, *scripted.Provider) {
	t.Helper()
	config, engine, source := stage.House("for→for")
	effort := &provider.Options{Effort: provider.EffortLow, Seed: new(int64(3))}
	voter := &config.Audience.Members[0]
	voter.Options, voter.Fallbacks = effort, []string{"test/plain"}
	config.AssignPositions = &debate.AssignPositions{Model: "test/planner", Options: effort, Fallbacks: []string{"test/plain"}}
	config.Summarizer, config.SummarizerOptions = "test/summarizer", effort
	config.Participants[0].Position = ""
	row := engine.Models["test/judge"]
	row.Unsupported = lacks
	for _, name := range []string{"test/voter", "test/planner", "test/plain", "test/summarizer"} {
		engine.Models[name] = row
	}
	lacking(engine, provider.AbilityEffort, "plain")
	votes := source.Reply
	stage.Planner(source, stage.JSON(stage.PlanOf(stage.NoonPosition)))
	others := source.Reply
	source.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema != nil && req.Schema.Name == "ballot" {
			return votes(req)
		}
		return others(req)
	}
	return config, engine, source
}

// Everybody who is asked can have options: they are in the requests, and in the record of each attempt.
func TestOptionsOfTheAudienceAndOfTheSearchForPositions(t *testing.T) {
	config, engine, source := seated(t)
	record := stage.Run(t, engine, config)
	assert.Empty(t, record.LeftOut())
	seen := map[string]bool{}
	for _, request := range source.Requests() {
		want := (*provider.Options)(nil)
		if request.Self == "Voter 1" || request.Self == "assigner" {
			want, seen[request.Self] = config.AssignPositions.Options, true
		}
		assert.Equal(t, want, request.Options, request.ID)
	}
	assert.Len(t, seen, 2)
	for _, e := range stage.Logged(t, engine, record.ID) {
		if in := body.As[flow.Intent](e); in != nil && seen[in.By] {
			assert.Equal(t, config.AssignPositions.Options, in.Options, in.Call)
		}
	}
}

// The start copies the options: a host program may change its config.
func TestTheOptionsOfSeatsAreCopied(t *testing.T) {
	config, engine, _ := seated(t)
	start, err := kernel.Of(t, engine).Freeze(config)
	require.NoError(t, err)
	before := stage.JSON(start)
	for _, o := range []*provider.Options{config.AssignPositions.Options, config.SummarizerOptions, config.Audience.Members[0].Options} {
		*o.Seed, o.Effort = 99, provider.EffortMax
	}
	assert.Equal(t, before, stage.JSON(start))
	assert.Equal(t, provider.EffortLow, start.Settings.SummarizerOptions.Effort)
}

// What the own model of a seat surely lacks is told before anything is paid.
func TestValidateNamesWhatTheModelOfASeatLacks(t *testing.T) {
	config, engine, source := seated(t, provider.AbilityEffort)
	assert.Equal(t, []string{
		"assignPositions.options.effort", "audience.members[0].options.effort", "summarizerOptions.effort",
	}, stage.FieldsOf(t, engine.Validate(t.Context(), config)))
	assert.Empty(t, source.Requests())
}

// Options of somebody who is no model, or of a summarizer that is not there, would be ignored.
func TestOptionsWithoutAModelAreRefused(t *testing.T) {
	o := &provider.Options{Effort: provider.EffortLow}
	for field, change := range map[string]func(*debate.Config){
		"summarizerOptions":           func(c *debate.Config) { c.Summarizer = "" },
		"audience.members[0].options": func(c *debate.Config) { c.Audience.Members[0] = debate.Member{Person: true, Options: o} },
		"judging.judges[0].options":   func(c *debate.Config) { c.Judging.Judges[0] = debate.JudgeConfig{Person: true, Options: o} },
	} {
		config, engine, _ := seated(t)
		change(&config)
		assert.Equal(t, []string{field}, stage.FieldsOf(t, engine.Validate(t.Context(), config)))
	}
	config, engine, _ := seated(t)
	config.Summarizer = flow.NoSummarizer
	assert.Equal(t, []string{"summarizerOptions"}, stage.FieldsOf(t, engine.Validate(t.Context(), config)))
}

// The fallbacks of a seat, and the models of rules, are asked without what they lack, and the outcome says so.
func TestFallbacksOfSeatsAreAskedWithoutWhatTheyLack(t *testing.T) {
	for name, change := range map[string]func(*debate.Config){
		"fallbacks": func(c *debate.Config) { c.OnFailure = nil },
		"the model of a rule": func(c *debate.Config) {
			c.AssignPositions.Fallbacks, c.Audience.Members[0].Fallbacks = nil, nil
			c.OnFailure = stage.Rules(debate.FailureRule{Do: flow.OptionModel, Model: "test/plain"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			config, engine, source := seated(t)
			change(&config)
			answer := source.Reply
			source.Reply = func(req *provider.Request) scripted.Reply {
				if req.Model == "voter" || req.Model == "planner" {
					return scripted.Reply{Err: &provider.Error{Kind: provider.KindValidation, Status: 404}}
				}
				return answer(req)
			}
			record := stage.Run(t, engine, config)
			asked := 0
			for _, request := range source.Requests() {
				if request.Model == "plain" {
					asked++
					assert.Equal(t, &provider.Options{Seed: new(int64(3))}, request.Options, request.ID)
				}
			}
			assert.Equal(t, 3, asked, "for positions and two votes")
			assert.Contains(t, stage.View(record).Outcome().Degraded, "the model test/plain was asked without effort")
		})
	}
}

// Summaries are asked for with the options of the summarizer, or with those of the judge whose own model makes them.
func TestOptionsOfASummarizer(t *testing.T) {
	t.Parallel()
	o := &provider.Options{Effort: provider.EffortMinimal}
	for name, tc := range map[string]struct {
		change func(*stage.Talk)
		want   *provider.Options
	}{
		"of its own": {func(d *stage.Talk) {
			d.Summarizes(true)
			d.Config.SummarizerOptions = o
		}, o},
		"none": {func(d *stage.Talk) {
			d.Summarizes(true)
			d.Config.Judging.Judges[0].Options = o
		}, nil},
		"a judge's": {func(d *stage.Talk) { d.Config.Judging.Judges[0].Options = o }, o},
	} {
		t.Run(name, func(t *testing.T) {
			d := stage.NewTalk(14, 0)
			d.Windows(0, 8000)
			tc.change(d)
			if d.Config.Summarizer != "" {
				d.Windows(6000, 8000)
			}
			record := stage.Run(t, d.Engine, d.Config)
			summaries := d.Summaries()
			require.NotEmpty(t, summaries)
			for _, request := range summaries {
				assert.Equal(t, tc.want, request.Options, request.ID)
			}
			require.NotEmpty(t, record.Summaries)
		})
	}
}

// A summary in flight is the same request in another process.
func TestASummaryInFlightKeepsItsOptions(t *testing.T) {
	d := stage.NewTalk(12, 6000).Summarizes(true)
	d.Config.SummarizerOptions = &provider.Options{Effort: provider.EffortMinimal, Seed: new(int64(1))}
	events := stage.Logged(t, d.Engine, stage.Run(t, d.Engine, d.Config).ID)
	at := slices.IndexFunc(events, func(e debate.Event) bool {
		in := body.As[flow.Intent](e)
		return in != nil && strings.HasPrefix(in.Call, "summary.")
	})
	require.Positive(t, at)
	core := stage.CoreOf(t, d.Engine, "again", events[:at+1])
	command, err := core.Command(body.As[flow.Intent](events[at]).Call)
	require.NoError(t, err)
	assert.Equal(t, d.Config.SummarizerOptions, command.Request.Options)
	assert.Equal(t, d.Summaries()[0].MaxTokens, command.Request.MaxTokens)
}
