package budget_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

func TestCallsThatFitTheBudgetOnlySinglyAreMadeOneAfterTheOther(t *testing.T) {
	config := stage.Brief()
	both := worstCases(t, config)
	config.Budget = &debate.Budget{Hard: both}
	assert.Equal(t, both, stage.Begun(t, config).Record().Reserved(), "there is room for both at once")

	config.Budget = &debate.Budget{Hard: both - 1}
	s := stage.Begun(t, config)
	assert.Equal(t, 1, s.Record().InFlight())
	assert.Less(t, s.Record().Reserved(), both)
	assert.Equal(t, []string{stage.BensOpening}, s.Says(stage.AdasOpening, 1).Start, "the first was cheaper than it might have been")
	s.Says(stage.BensOpening, 1)
	assert.Equal(t, flow.StateCompleted, s.Record().State)
	assert.Len(t, s.Record().Turns, 2)
	require.Len(t, s.Record().Warnings, 1, "no limit was reached")
	assert.Equal(t, flow.WarnBudget, s.Record().Warnings[0].Kind)
}

// The call in flight belongs to a state that an input has left: it is withdrawn and counts as broken off, and the other state's call
// fits beside that or does not.
func TestACallOfAStateThatWasLeftIsCharged(t *testing.T) {
	for _, enough := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			asking := func(name string) func(*debate.Record) []*flow.Call {
				return func(r *debate.Record) []*flow.Call {
					if r.Done("say." + name) {
						return nil
					}
					return []*flow.Call{{ID: "say." + name, Kind: "word", By: name, Model: "test/debater"}}
				}
			}
			f := stage.OneState(asking("Ada"))
			f.Inputs = []debate.Trigger{stage.Nudge}
			f.Rules = append(f.Rules, debate.Rule{From: stage.Asks, On: stage.Nudge, To: stage.Rests})
			f.Steps[stage.Rests] = flow.Step{Calls: asking("Ben"), Next: f.Steps[stage.Rests].Next}
			engine, p, config := stage.WithFlow(f)
			stage.Slowly(p)
			config.MaxTokens = 300
			config.Budget = &debate.Budget{Hard: 1_000_000_000} // one worst case is about 0.7 of that
			if enough {
				config.Budget.Hard *= 2
			}
			session := stage.Started(t, engine, stage.InFlow(engine, config))
			stage.Pass(500 * time.Millisecond)
			require.NoError(t, session.Send(t.Context(), stage.Nudge, nil))
			synctest.Wait()
			record, err := session.Wait(t.Context())
			assert.Equal(t, []string{"say.Ada"}, stage.Withdrawals(t, engine, session.ID()))
			if enough {
				require.NoError(t, err)
				assert.Equal(t, []string{"r0 Ben"}, stage.Speakers(record))
				assert.Greater(t, record.Spent().AtMost, debate.Money(600_000_000))
				return
			}
			stage.RequireKind(t, err, provider.KindCostLimit)
			assert.Equal(t, 1, p.Calls(), "what Ada's call may have cost leaves no room for Ben's")
		})
	}
}

func TestASoftLimitLetsThoseWhoSpeakFinish(t *testing.T) {
	config := stage.Brief()
	config.Rounds, config.Judging = 3, stage.TwoDebaters().Judging
	config.Budget = &debate.Budget{Soft: worstCases(t, config)}
	s := stage.Begun(t, config)
	require.Equal(t, 2, s.Record().InFlight())
	out := s.Feed(flow.Result{Call: stage.AdasOpening, Attempt: 1, Text: "A word.", Usage: provider.Usage{Input: 10, Output: 1_000_000}})
	assert.Equal(t, []flow.EventKind{flow.EventTurn, flow.EventWarning}, stage.KindsOf(out.Events), "Ben is still speaking")
	assert.Empty(t, out.Abort)
	assert.Equal(t, debate.StateAwaitingResponses, s.Record().State)

	out = s.Says(stage.BensOpening, 1)
	assert.Equal(t, []string{"r1 Ada", "r1 Ben"}, stage.Speakers(s.Record()))
	assert.Equal(t, flow.StateCompleting, s.Record().State)
	assert.Equal(t, []string{"verdict.judge"}, out.Start)
	var kinds []flow.WarningKind
	for _, w := range s.Record().Warnings {
		kinds = append(kinds, w.Kind)
	}
	assert.Equal(t, []flow.WarningKind{flow.WarnBudget, flow.WarnOver, flow.WarnSoft}, kinds)
}

// worstCases is the most that the calls of a debate's first step can cost.
func worstCases(t *testing.T, config debate.Config) debate.Money {
	t.Helper()
	return stage.Begun(t, config).Record().Reserved()
}
