package deliberation_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// costing is a node that has the final proposals costed, with one call for each agent that has one.
func costing(seen *[]string) deliberation.Node {
	return deliberation.Node{State: "costing", Step: flow.Step{Calls: func(r *flow.Record) []*flow.Call {
		if seen != nil {
			*seen = append(*seen, string(r.Reason)+": "+r.Evidence)
		}
		var out []*flow.Call
		for _, c := range view(r).Standing() {
			if id := "cost." + c.Agent; !r.Done(id) && !r.Failed(id) {
				out = append(out, &flow.Call{
					ID: id, Kind: "costing", By: "accountant", Target: c.Agent, Model: "test/agent", View: flow.View{None: true},
					OnFail: flow.OnFail{Aid: true}, Last: func(*flow.Record) string { return "What does it cost?" },
				})
			}
		}
		return out
	}}}
}

// TestANodeBetweenTheRoundsAndTheSolution: however the flow ends the rounds, the node is passed once, and why they have
// ended is known there and kept.
func TestANodeBetweenTheRoundsAndTheSolution(t *testing.T) {
	few := func(call string, _ *provider.Request) (scripted.Reply, bool) {
		return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal}}, call == "r2.refine.ada" || call == "r2.refine.ben"
	}
	for name, test := range map[string]struct {
		end      string
		own      answers
		reason   flow.EndReason
		evidence string
		from     string
	}{
		"all rounds":     {deliberation.TerminationFixed, nil, flow.EndRounds, "all 3 rounds are done", "maxRoundsReached → costing (3)"},
		"agreement":      {deliberation.TerminationConvergence, numbers(60, 90), flow.EndConverged, "is 90", "consensusReached → costing (3)"},
		"quality":        {deliberation.TerminationQuality, numbers(90), deliberation.EndQuality, "is 90", "consensusReached → costing (3)"},
		"too few agents": {deliberation.TerminationFixed, few, flow.EndTooFew, "1 of 3 agents", "refined → costing (3)"},
	} {
		t.Run(name, func(t *testing.T) {
			var seen []string
			f := deliberation.Flow()
			require.NoError(t, deliberation.Insert(f, deliberation.AfterRounds, costing(&seen)))
			require.NoError(t, deliberation.Insert(f, "costing", deliberation.Node{State: "resting"}))
			engine, p := engineFor(test.own)
			engine.Flows[deliberation.FlowName] = f
			config := three()
			config.Rounds, config.Termination.Kind = 3, test.end
			session := stage.Started(t, engine, config)
			r, err := session.Wait(t.Context())
			if test.reason == flow.EndTooFew { // no rule may leave so few: a person does
				require.ErrorIs(t, err, debate.ErrAwaitingInput)
				require.Len(t, r.Inquiries, 1)
				require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: r.Inquiries[0].ID, Option: flow.OptionSkip}))
				r, err = session.Wait(t.Context())
			}
			require.NoError(t, err)
			assert.Equal(t, flow.StateCompleted, r.State)
			assert.Equal(t, test.reason, r.Reason)
			assert.Contains(t, r.Evidence, test.evidence)
			require.NotEmpty(t, seen)
			for _, s := range seen[1:] { // the first is the announcement of the state before
				assert.Equal(t, string(r.Reason)+": "+r.Evidence, s, "it is known in the node")
			}
			got := path(events(t, engine, r.ID))
			at := slices.Index(got, test.from)
			require.Positive(t, at, got)
			assert.Equal(t, []string{"costingDone → resting", "restingDone → completing (1)", "completed → completed"}, got[at+1:])
			assert.Contains(t, prompt(t, p, "synthesis"), said("cost.cyd"))
			assert.Equal(t, test.reason == flow.EndTooFew, strings.Contains(prompt(t, p, "synthesis"), "ended early"))
			all := view(r).Contributions()
			assert.Equal(t, flow.CallKind("costing"), all[len(all)-1].Kind, "it comes behind the refinements")
			_, _, ok := solved(r)
			assert.True(t, ok)
		})
	}
}

// TestANodeBehindTheRoundsIsContinued in another process, by any synthesis.
func TestANodeBehindTheRoundsIsContinued(t *testing.T) {
	for _, synthesis := range []string{deliberation.SynthesisMerge, deliberation.SynthesisVoting} {
		f := deliberation.Flow()
		require.NoError(t, deliberation.Insert(f, deliberation.AfterRounds, costing(nil)))
		engine, _ := engineFor(nil)
		engine.Flows[deliberation.FlowName] = f
		config := three()
		config.Synthesis = synthesis
		r := play(t, engine, config)
		session := stage.Reopen(t, engine, r.ID)
		again := stage.Ended(t, session)
		require.NoError(t, session.Close())
		assert.Equal(t, []any{flow.EndRounds, "all 2 rounds are done"}, []any{again.Reason, again.Evidence})
		assert.True(t, again.Done("cost.ada"))
	}
}
