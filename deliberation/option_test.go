package deliberation_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/export"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// optioned returns a deliberation of all kinds of calls, in which each seat has options of its own.
func optioned(synthesis string) (deliberation.Config, map[string]*provider.Options) {
	config := three()
	config.Synthesis, config.Rounds = synthesis, 4
	config.Termination.Kind = deliberation.TerminationConvergence
	config.Clarification.On = true
	config.Summaries = deliberation.Summaries{Threshold: 1, MaxLength: 100}
	config.FullHistory = new(true)
	config.Judge.Options = &provider.Options{Effort: provider.EffortHigh}
	want := map[string]*provider.Options{"judge": config.Judge.Options}
	for i := range config.Agents {
		config.Agents[i].Options = &provider.Options{Seed: new(int64(i))}
		want[config.Agents[i].ID] = config.Agents[i].Options
	}
	return config, want
}

// Whatever an agent or the judge is asked, it is asked with the options of its seat: questions, summaries, votes, merges and
// the solution included.
func TestEveryCallHasTheOptionsOfItsSeat(t *testing.T) {
	kinds := map[flow.CallKind]bool{}
	for _, synthesis := range []string{deliberation.SynthesisJudge, deliberation.SynthesisVoting, deliberation.SynthesisMerge} {
		config, want := optioned(synthesis)
		engine, p := engineFor(sized(func(string) int { return 3000 }))
		record := play(t, engine, config)
		for _, request := range p.Requests() {
			require.Equal(t, want[request.Self], request.Options, request.ID)
		}
		for _, turn := range record.Turns {
			kinds[turn.Kind] = true
		}
	}
	for _, kind := range []flow.CallKind{
		deliberation.KindQuestion, deliberation.KindProposal, deliberation.KindCritique, deliberation.KindRefinement,
		deliberation.KindDigest, deliberation.KindConfidence, deliberation.KindVote, deliberation.KindMerge, deliberation.KindSynthesis,
	} {
		assert.True(t, kinds[kind], kind)
	}
}

// A fallback is asked without what it lacks: the deliberation says so, in its JSON too.
func TestADeliberationTellsWhatAFallbackWasAskedWithout(t *testing.T) {
	config := three()
	config.Agents[0].Options = &provider.Options{Effort: provider.EffortHigh, Seed: new(int64(1))}
	config.Agents[0].Model, config.Agents[0].Fallbacks = "test/gone", []string{"test/plain"}
	config.Judge.Options, config.Judge.Fallbacks = config.Agents[0].Options, []string{"test/plain"}
	engine, _ := engineFor(func(_ string, req *provider.Request) (scripted.Reply, bool) {
		return scripted.Reply{Err: &provider.Error{Kind: provider.KindValidation, Status: 404}}, req.Model == "gone"
	})
	engine.Models = map[string]debate.Model{"test/plain": {Unsupported: []provider.Ability{provider.AbilityEffort}}}
	record := play(t, engine, config)
	const line = "the model test/plain was asked without effort"
	assert.Equal(t, []string{line}, view(record).Degraded())
	var shown struct {
		Degraded []string       `json:"degraded"`
		LeftOut  []flow.LeftOut `json:"leftOut"`
	}
	data, err := json.Marshal(view(record))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &shown))
	assert.Equal(t, []string{line}, shown.Degraded)
	assert.Equal(t, []flow.LeftOut{{Model: "test/plain", What: []string{"effort"}}}, shown.LeftOut)
	var page, text strings.Builder
	require.NoError(t, export.HTML(&page, record))
	require.NoError(t, export.Markdown(&text, record))
	assert.Contains(t, page.String(), "The model test/plain was asked without effort.")
	assert.Contains(t, text.String(), "The model test/plain was asked without effort.")
}

// What was left out, who was dropped and what is missing are among it.
func TestADegradedDeliberationSaysHow(t *testing.T) {
	config := three()
	engine, _ := engineFor(func(call string, _ *provider.Request) (scripted.Reply, bool) {
		return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal}}, call == "r1.critique.ada.ben"
	})
	record := play(t, engine, config)
	degraded := view(record).Degraded()
	require.Len(t, degraded, 1)
	assert.Equal(t, record.Warnings[len(record.Warnings)-1].Evidence, degraded[0])
	engine, _ = engineFor(nil)
	assert.Empty(t, view(play(t, engine, config)).Degraded())
}

// adding is a deliberation of two agents with a tool, and an engine with the tool. Some models lack tools.
func adding(t *testing.T, own answers, without ...string) (deliberation.Config, *debate.Engine, *scripted.Provider) {
	t.Helper()
	add, err := flow.NewTool(flow.ToolInfo{Description: "adds", ReadOnly: true}, func(context.Context, flow.ToolUse, struct{}) (string, error) { return "forty-two", nil })
	require.NoError(t, err)
	config := three()
	config.Agents, config.Rounds, config.Tools = config.Agents[:2], 1, []string{"add"}
	engine, p := engineFor(own)
	engine.Tools = map[string]flow.Tool{"add": add}
	engine.Models = make(map[string]debate.Model)
	for _, name := range without {
		engine.Models["test/"+name] = debate.Model{Unsupported: []provider.Ability{provider.AbilityTools}}
	}
	return config, engine, p
}

// An agent with tools needs a model that can use them.
func TestAnAgentWithToolsNeedsAModelWithTools(t *testing.T) {
	config, engine, p := adding(t, nil, "plain")
	config.Agents[1].Model = "test/plain"
	require.ErrorContains(t, engine.Validate(t.Context(), config), `agents[1].model: "test/plain": the model is known to lack a required ability: "tools"`)
	config.Agents[1].Tools = &[]string{}
	require.NoError(t, engine.Validate(t.Context(), config))
	assert.Zero(t, p.Calls())
}

// A fallback that can use no tools is offered none. It reads what the tools have answered its predecessor.
func TestAFallbackWithoutToolsReadsTheirAnswers(t *testing.T) {
	var plain []*provider.Request
	config, engine, _ := adding(t, func(call string, req *provider.Request) (scripted.Reply, bool) {
		switch {
		case !strings.HasSuffix(call, "propose.ada"):
			return scripted.Reply{}, false
		case req.Model == "plain":
			plain = append(plain, req)
			return scripted.Reply{}, false
		case len(req.Messages) == 0:
			return scripted.Reply{Calls: []provider.ToolCall{{ID: "1", Name: "add", Arguments: json.RawMessage(`{}`)}}}, true
		default:
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindValidation, Status: 404}}, true
		}
	}, "plain")
	config.Agents[0].Fallbacks = []string{"test/plain"}
	record := play(t, engine, config)
	require.Len(t, plain, 1)
	assert.Empty(t, plain[0].Tools)
	assert.Empty(t, plain[0].Messages)
	assert.Contains(t, plain[0].Last.Text, "forty-two")
	assert.Equal(t, []flow.LeftOut{{Model: "test/plain", What: []string{"tools"}}}, record.LeftOut())
}
