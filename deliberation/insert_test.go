package deliberation_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
)

// checking is a node that checks the facts of every proposal that was critiqued, with one call for each agent.
func checking() deliberation.Node {
	return deliberation.Node{State: "factChecking", Step: flow.Step{Calls: func(r *flow.Record) []*flow.Call {
		var out []*flow.Call
		for i, p := range r.Active() {
			id := "r" + string(rune('0'+r.Round)) + ".check." + p
			if !r.Done(id) && !r.Failed(id) {
				out = append(out, &flow.Call{
					ID: id, Kind: "finding", By: "checker", Target: p, Model: "test/agent", Round: r.Round, Slot: 100 + i,
					View: flow.View{None: true}, OnFail: flow.OnFail{Skip: flow.RuleToo},
					Last: func(*flow.Record) string { return "Check the facts." },
				})
			}
		}
		return out
	}}}
}

func TestAnAddedNodeIsHeard(t *testing.T) {
	f := deliberation.Flow()
	require.NoError(t, deliberation.Insert(f, deliberation.StateCritiquing, checking()))
	engine, p := engineFor(nil)
	engine.Flows[deliberation.FlowName] = f
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
	found := slices.IndexFunc(view(r).Contributions(), func(c deliberation.Contribution) bool {
		return c.Round == 2 && c.Kind == "finding" && c.Target == "ben"
	})
	require.NotEqual(t, -1, found)
	assert.Equal(t, said("r2.check.ben"), view(r).Contributions()[found].Text)
	assert.Empty(t, view(r).Contributions()[found].Role, "the checker is none of the agents")
}

func TestNodesAreAddedAnywhere(t *testing.T) {
	for _, after := range []flow.State{
		deliberation.StateClarifying, deliberation.StateAnswering, deliberation.StatePlanningRound, deliberation.StateSummarizing, deliberation.StateProposing,
		deliberation.StateCritiquing, deliberation.StateRefining, deliberation.StateEvaluating,
	} {
		f := deliberation.Flow()
		var seen int
		node := deliberation.Node{State: "pausing", On: "goOn", Timed: true, Step: flow.Step{Next: func(*flow.Record) (flow.Trigger, flow.Exit, bool) {
			seen++
			return "goOn", flow.Exit{}, true
		}}}
		require.NoError(t, deliberation.Insert(f, after, node))
		require.NoError(t, deliberation.Insert(f, "pausing", deliberation.Node{State: "pausingAgain"}))
		engine, _ := engineFor(nil)
		engine.Flows[deliberation.FlowName] = f
		r := play(t, engine, three())
		assert.Equal(t, flow.EndRounds, r.Reason)
		for _, step := range path(events(t, engine, r.ID)) {
			if strings.Contains(step, "→ pausing") {
				assert.NotContains(t, step, "(", "nobody is asked there")
			}
		}
		want := 2
		if after == deliberation.StateClarifying || after == deliberation.StateAnswering {
			want = 1 // it is before the first round
		}
		assert.Equal(t, want, seen, after)
	}
	assert.NotEqual(t, deliberation.Flow().Mermaid(), func() string {
		f := deliberation.Flow()
		require.NoError(t, deliberation.Insert(f, deliberation.StateCritiquing, checking()))
		return f.Mermaid()
	}())
}

func TestInsertRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		after flow.State
		node  deliberation.Node
		says  string
	}{
		"no such state":      {"dreaming", deliberation.Node{State: "x"}, "there are afterRounds, answering, clarifying, critiquing, evaluating, planningRound, proposing, refining, summarizing"},
		"a state of its own": {deliberation.StateCritiquing, deliberation.Node{State: deliberation.StateRefining}, "already"},
		"no name":            {deliberation.StateCritiquing, deliberation.Node{}, "empty"},
		"the end":            {flow.StateCompleting, deliberation.Node{State: "x"}, `no state to follow "completing" is known: `},
		"a lifecycle state":  {deliberation.StateCritiquing, deliberation.Node{State: flow.StatePaused}, "already"},
	} {
		t.Run(name, func(t *testing.T) {
			err := deliberation.Insert(deliberation.Flow(), test.after, test.node)
			assert.ErrorContains(t, err, test.says)
		})
	}
	require.Error(t, deliberation.Insert(nil, deliberation.StateCritiquing, checking()))
}

// TestANodeBehindTheClarification comes once nobody asks any more, however the asking ends.
func TestANodeBehindTheClarification(t *testing.T) {
	for name, test := range map[string]struct {
		asked      map[string][]string
		iterations int
		want       []string
	}{
		"nobody asks": {nil, 2, []string{"allClear → factChecking (3)"}},
		"nobody follows up": {
			map[string][]string{"clarify.1.ada": {"How many?"}},
			2,
			[]string{"questionsPending → answering (1)", "answersSubmitted → clarifying (3)", "allClear → factChecking (3)"},
		},
		"no iteration is left": {
			map[string][]string{"clarify.1.ada": {"How many?"}},
			1,
			[]string{"questionsPending → answering (1)", "answersSubmitted → factChecking (3)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := deliberation.Flow()
			require.NoError(t, deliberation.Insert(f, deliberation.StateClarifying, checking()))
			engine, _ := engineFor(curious(test.asked))
			engine.Flows[deliberation.FlowName] = f
			config := three()
			config.Clarification = deliberation.Clarification{On: true, Iterations: test.iterations}
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			defer func() { _ = session.Close() }()
			record, err := session.Wait(t.Context())
			for errors.Is(err, flow.ErrAwaitingInput) {
				for _, question := range record.Inquiries {
					require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: question.ID, Text: "Ten."}))
				}
				record, err = session.Wait(t.Context())
			}
			require.NoError(t, err)
			got := slices.DeleteFunc(path(events(t, engine, record.ID)), func(step string) bool {
				return step == "ask → awaitingInput" || step == "answered → answering"
			})
			from := slices.IndexFunc(got, func(step string) bool { return strings.Contains(step, "→ clarifying") }) + 1
			to := slices.IndexFunc(got, func(step string) bool { return strings.Contains(step, "→ planningRound") })
			assert.Equal(t, append(test.want, "factCheckingDone → planningRound"), got[from:to+1])
		})
	}
}

// TestFindingsStandBetweenCritiquesAndRefinements: a host need not know the slots of the flow.
func TestFindingsStandBetweenCritiquesAndRefinements(t *testing.T) {
	f := deliberation.Flow()
	node := checking()
	some := node.Step.Calls
	node.Step.Calls = func(r *flow.Record) []*flow.Call {
		made := some(r)
		for i := range made {
			made[i].Slot = 0
		}
		return made
	}
	require.NoError(t, deliberation.Insert(f, deliberation.StateCritiquing, node))
	engine, p := engineFor(nil)
	engine.Flows[deliberation.FlowName] = f
	r := play(t, engine, three())
	var second []string
	for _, c := range view(r).Contributions() {
		if c.Round == 2 {
			second = append(second, string(c.Kind)+" "+c.Agent+" "+c.Target)
		}
	}
	assert.Equal(t, []string{
		"critique ada ben", "critique ada cyd", "critique ben ada", "critique ben cyd", "critique cyd ada", "critique cyd ben",
		"finding checker ada", "finding checker ben", "finding checker cyd", "refinement ada ", "refinement ben ", "refinement cyd ",
	}, second)
	refine := prompt(t, p, "r1.refine.ada")
	assert.Greater(t, strings.Index(refine, said("r1.check.ada")), strings.Index(refine, said("r1.critique.cyd.ada")))
}

// TestAnotherVersionIsAnotherFlow: with a Version of its own neither flow continues the other's debates.
func TestAnotherVersionIsAnotherFlow(t *testing.T) {
	added := deliberation.Flow()
	require.NoError(t, deliberation.Insert(added, deliberation.StateCritiquing, checking()))
	added.Version, added.Accepts = 1001, 1001
	for name, flows := range map[string][2]*flow.Flow{
		"begun without the node": {deliberation.Flow(), added}, "begun with it": {added, deliberation.Flow()},
	} {
		t.Run(name, func(t *testing.T) {
			store := &store.Memory{}
			var opened []error
			for i, f := range flows {
				engine, _ := engineFor(curious(map[string][]string{"clarify.1.ada": {"How many?"}}))
				engine.Store, engine.Flows[deliberation.FlowName] = store, f
				config := three()
				config.ID, config.Clarification.On = "mixed", true
				if i == 0 {
					session, err := engine.Start(t.Context(), config)
					require.NoError(t, err)
					stage.AwaitsInput(t, session)
					require.NoError(t, session.Close())
				}
				session, err := engine.Open(t.Context(), config.ID)
				if err == nil {
					require.NoError(t, session.Close())
				}
				opened = append(opened, err)
			}
			require.NoError(t, opened[0])
			require.ErrorContains(t, opened[1], "version")
		})
	}
}

// TestANodeNeedNotTellItsRound: its turns are read as of the round in which they come.
func TestANodeNeedNotTellItsRound(t *testing.T) {
	f := deliberation.Flow()
	node := checking()
	some := node.Step.Calls
	node.Step.Calls = func(r *flow.Record) []*flow.Call {
		made := some(r)
		for i := range made {
			made[i].Round = 0
		}
		return made
	}
	require.NoError(t, deliberation.Insert(f, deliberation.StateCritiquing, node))
	engine, p := engineFor(nil)
	engine.Flows[deliberation.FlowName] = f
	play(t, engine, three())
	assert.Contains(t, prompt(t, p, "r1.refine.ada"), said("r1.check.ada"))
	assert.Contains(t, prompt(t, p, "r2.refine.ada"), said("r1.check.ada"))
	assert.Contains(t, prompt(t, p, "r2.refine.ada"), said("r2.check.ada"))
	assert.Contains(t, prompt(t, p, "synthesis"), said("r2.check.ada"))
}
