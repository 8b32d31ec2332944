package deliberation_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// TestAContributionTellsWhatItTook: who, as what, with which model, and what it cost.
func TestAContributionTellsWhatItTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := three()
		config.Agents[1].Model = "test/other"
		engine, _ := engineFor(func(call string, _ *provider.Request) (scripted.Reply, bool) {
			return scripted.Reply{Text: "I object.", Delay: time.Second, Usage: provider.Usage{Input: 100, Output: 10}}, call == "r1.critique.ben.ada"
		})
		engine.Models = map[string]flow.Model{"test/other": {Priced: true, Input: flow.USD, Output: 2 * flow.USD}}
		r := play(t, engine, config)
		for _, c := range view(r).Contributions() {
			if c.Agent == "ben" && c.Kind == deliberation.KindCritique && c.Target == "ada" && c.Round == 1 {
				assert.Equal(t, time.Second, c.At.Sub(r.RoundStarts[0]), "after the proposals, which take no time here")
				assert.Equal(t, deliberation.Contribution{
					Call: "r1.critique.ben.ada", At: c.At, Round: 1, Kind: deliberation.KindCritique, Agent: "ben", Role: deliberation.RolePerformance, Target: "ada", Text: "I object.",
					Model: "test/other", Usage: provider.Usage{Input: 100, Output: 10}, Cost: 120 * flow.USD, Took: time.Second,
				}, c)
				return
			}
		}
		assert.Fail(t, "Ben's critique is missing")
	})
}

// TestWhatStands: after each phase the latest proposal or refinement of each agent, by the order of the config.
func TestWhatStands(t *testing.T) {
	stands := map[flow.State][]string{}
	f := deliberation.Flow()
	for _, after := range []flow.State{deliberation.StatePlanningRound, deliberation.StateProposing, deliberation.StateRefining} {
		require.NoError(t, deliberation.Insert(f, after, deliberation.Node{State: "looking" + after, Step: flow.Step{
			Calls: func(r *flow.Record) []*flow.Call {
				var texts []string
				for _, c := range view(r).Standing() {
					texts = append(texts, c.Text)
				}
				stands[after] = texts
				return nil
			},
		}}))
	}
	engine, _ := engineFor(func(call string, _ *provider.Request) (scripted.Reply, bool) {
		return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal}}, call == "r1.refine.ben" || call == "r1.propose.cyd" || call == "r2.propose.cyd"
	})
	engine.Flows[deliberation.FlowName] = f
	r := play(t, engine, three())
	assert.Equal(t, map[flow.State][]string{
		deliberation.StatePlanningRound: {said("r1.refine.ada"), said("r1.propose.ben")},
		deliberation.StateProposing:     {said("r1.refine.ada"), said("r1.propose.ben")},
		deliberation.StateRefining:      {said("r2.refine.ada"), said("r2.refine.ben")},
	}, stands)
	last := view(r).Standing()
	require.Len(t, last, 2)
	assert.Equal(t, deliberation.KindRefinement, last[0].Kind)
	assert.Equal(t, 2, last[0].Round)
}

// TestTheConfigIsInTheRecord: from it the same can be started again, files and roles included.
func TestTheConfigIsInTheRecord(t *testing.T) {
	yes, whole, threshold := 0.1, true, 95.0
	for name, change := range map[string]func(*deliberation.Config){
		"plain": func(*deliberation.Config) {},
		"all of it": func(c *deliberation.Config) {
			c.ID, c.Rounds, c.Termination = "whole", 1, deliberation.Termination{Kind: "quality", Threshold: &threshold}
			c.Synthesis, c.Topology, c.Proposals = "merge", deliberation.Topology{Kind: "nearest", K: 1}, "fresh"
			c.FullHistory, c.Summaries, c.Temperature, c.MaxTokens = &whole, deliberation.Summaries{MaxLength: 200}, &yes, 700
			c.Clarification, c.Unattended = deliberation.Clarification{On: true, Questions: 2}, true
			c.Roles = []deliberation.Role{{Name: "own", Title: "Mine", System: "You.", Refine: "Refine it."}}
			c.Agents[0].Role, c.Agents[1].Role, c.Agents[1].Prompt = "own", "own", "You too."
			c.Agents[2].Summaries = &deliberation.Summaries{Off: true}
			c.Agents[2].Name, c.Agents[2].Fallbacks, c.Agents[2].MaxTokens = "Cyd C.", []string{"test/b"}, 300
			c.Agents = append(c.Agents, deliberation.Agent{ID: "dan", Model: "test/d", Disabled: true})
			c.Judge.Prompt, c.Judge.MaxTokens, c.RoundTimeout = "You judge.", 900, time.Hour
			c.Labels = map[string]string{"tenant": "x"}
		},
		"voting": func(c *deliberation.Config) { c.Synthesis, c.Judge = "voting", deliberation.Judge{} },
	} {
		t.Run(name, func(t *testing.T) {
			config := three()
			change(&config)
			made, err := deliberation.Flow().Normalize(&config)
			require.NoError(t, err)
			engine, _ := engineFor(nil)
			r := play(t, engine, config)
			got := view(r).Config()
			assert.Equal(t, config.Problem, got.Problem)
			assert.Empty(t, got.ID, "the record has it")
			role, err := deliberation.FindRole(got.Agents[0].Role, got.Roles)
			require.NoError(t, err)
			assert.Equal(t, map[bool]string{true: "Mine", false: "Architect"}[name == "all of it"], role.Title)

			again, err := deliberation.Flow().Normalize(got)
			require.NoError(t, err)
			assert.JSONEq(t, toJSON(made), toJSON(got))
			assert.Equal(t, got, again)
			anew := *got
			anew.ID = "again"
			assert.Equal(t, got, view(play(t, engine, anew)).Config())
			if name == "all of it" {
				assert.Equal(t, time.Hour, got.RoundTimeout)
				assert.Equal(t, config.Labels, got.Labels)
				assert.Equal(t, 900, got.Judge.MaxTokens)
				assert.Equal(t, []string{"ada", "ben", "cyd"}, []string{got.Agents[0].ID, got.Agents[1].ID, got.Agents[2].ID})
			}
		})
	}
}
