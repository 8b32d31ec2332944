package deliberation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
)

// checking is a node that checks the facts of every proposal that was critiqued, with one call for each agent.
func checking() deliberation.Node {
	return deliberation.Node{State: "factChecking", Step: debate.Step{Calls: func(r *debate.Record) []debate.Call {
		var out []debate.Call
		for i, p := range r.Active() {
			id := "r" + string(rune('0'+r.Round)) + ".check." + p.Name
			if !r.Done(id) && !r.Failed(id) {
				out = append(out, debate.Call{
					ID: id, Kind: "finding", By: "checker", Target: p.Name, Model: "test/agent", Round: r.Round, Slot: 100 + i,
					View: debate.View{None: true}, OnFail: debate.OnFail{Skip: true},
					Last: func(*debate.Record) string { return "Check the facts." },
				})
			}
		}
		return out
	}}}
}

func TestAnAddedNodeIsHeard(t *testing.T) {
	flow := deliberation.Flow()
	require.NoError(t, deliberation.Insert(flow, deliberation.StateCritiquing, checking()))
	engine, p := engineFor(nil)
	engine.Flows[deliberation.FlowName] = flow
	config := three()
	config.Summaries.Off = true
	r := play(t, engine, config)
	assert.Empty(t, r.Warnings)
	assert.Contains(t, prompt(t, p, "r1.refine.ada"), said("r1.check.ada"))
	assert.NotContains(t, prompt(t, p, "r1.refine.ada"), said("r1.check.ben"))
	assert.Contains(t, prompt(t, p, "r2.refine.ada"), said("r1.check.ada"), "it is a part of the history")
	assert.Contains(t, prompt(t, p, "synthesis"), said("r2.check.cyd"))
	got := path(events(t, engine, r.ID))
	assert.Contains(t, got, "critiqued → factChecking (3)")
	assert.Contains(t, got, "factCheckingDone → refining (3)")
	assert.Contains(t, deliberation.Contributions(r), deliberation.Contribution{
		Round: 2, Kind: "finding", Agent: "checker", Target: "ben", Text: said("r2.check.ben"),
	})
}

func TestNodesAreAddedAnywhere(t *testing.T) {
	for _, after := range []debate.State{
		deliberation.StateClarifying, deliberation.StatePlanningRound, deliberation.StateSummarizing, deliberation.StateProposing,
		deliberation.StateCritiquing, deliberation.StateRefining, deliberation.StateEvaluating,
	} {
		flow := deliberation.Flow()
		var seen int
		node := deliberation.Node{State: "pausing", On: "goOn", Timed: true, Step: debate.Step{Next: func(*debate.Record) (debate.Trigger, debate.Note, bool) {
			seen++
			return "goOn", debate.Note{}, true
		}}}
		if after == deliberation.StateClarifying { // it leads to two states
			require.ErrorContains(t, deliberation.Insert(flow, after, node), "leads to both")
			continue
		}
		require.NoError(t, deliberation.Insert(flow, after, node))
		require.NoError(t, deliberation.Insert(flow, "pausing", deliberation.Node{State: "pausingAgain"}))
		engine, _ := engineFor(nil)
		engine.Flows[deliberation.FlowName] = flow
		r := play(t, engine, three())
		assert.Equal(t, debate.EndRounds, r.Reason)
		for _, step := range path(events(t, engine, r.ID)) {
			if strings.Contains(step, "→ pausing") {
				assert.NotContains(t, step, "(", "nobody is asked there")
			}
		}
		assert.Equal(t, 2, seen, after)
	}
	assert.NotEqual(t, deliberation.Flow().Mermaid(), func() string {
		flow := deliberation.Flow()
		require.NoError(t, deliberation.Insert(flow, deliberation.StateCritiquing, checking()))
		return flow.Mermaid()
	}())
}

func TestInsertRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		after debate.State
		node  deliberation.Node
		says  string
	}{
		"no such state":      {"dreaming", deliberation.Node{State: "x"}, "no state of the flow"},
		"a state of its own": {deliberation.StateCritiquing, deliberation.Node{State: deliberation.StateRefining}, "already"},
		"no name":            {deliberation.StateCritiquing, deliberation.Node{}, "empty"},
		"the end":            {debate.StateCompleting, deliberation.Node{State: "x"}, "no state of the flow"},
		"a lifecycle state":  {deliberation.StateCritiquing, deliberation.Node{State: debate.StatePaused}, "already"},
	} {
		t.Run(name, func(t *testing.T) {
			err := deliberation.Insert(deliberation.Flow(), test.after, test.node)
			assert.ErrorContains(t, err, test.says)
		})
	}
	require.Error(t, deliberation.Insert(nil, deliberation.StateCritiquing, checking()))
}

// TestANodeNeedNotTellItsRound: its turns are read as of the round in which they come.
func TestANodeNeedNotTellItsRound(t *testing.T) {
	flow := deliberation.Flow()
	node := checking()
	some := node.Step.Calls
	node.Step.Calls = func(r *debate.Record) []debate.Call {
		made := some(r)
		for i := range made {
			made[i].Round = 0
		}
		return made
	}
	require.NoError(t, deliberation.Insert(flow, deliberation.StateCritiquing, node))
	engine, p := engineFor(nil)
	engine.Flows[deliberation.FlowName] = flow
	play(t, engine, three())
	assert.Contains(t, prompt(t, p, "r1.refine.ada"), said("r1.check.ada"))
	assert.Contains(t, prompt(t, p, "r2.refine.ada"), said("r1.check.ada"))
	assert.Contains(t, prompt(t, p, "r2.refine.ada"), said("r2.check.ada"))
	assert.Contains(t, prompt(t, p, "synthesis"), said("r2.check.ada"))
}
