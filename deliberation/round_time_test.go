package deliberation_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// leftOut returns the calls that were left out, in their order.
func leftOut(r *flow.Record) []string {
	var out []string
	for i := range r.SkippedCalls {
		out = append(out, r.SkippedCalls[i].Call)
	}
	return out
}

// TestAnAgentThatIsLateInTwoPhasesOfARound has missed one round. Only if it is late in the next round as well, and was heard in no
// call in between, does the deliberation fail.
func TestAnAgentThatIsLateInTwoPhasesOfARound(t *testing.T) {
	late := []string{"r1.critique.ben.ada", "r1.critique.ben.cyd", "r1.refine.ben"}
	for name, test := range map[string]struct {
		takes func(call string) time.Duration // a call of Ben's
		late  []string
		fails string
	}{
		// The first phase of three ends at the latest after 2/3 of the 13 s, and the second one after 5/6.
		"each call takes 8 s": {
			func(string) time.Duration { return 8 * time.Second }, append(late[:3:3], "r2.refine.ben", "r3.refine.ben"), "",
		},
		"late in two rounds": {
			func(call string) time.Duration {
				if call == "r1.propose.ben" {
					return time.Second
				}
				return time.Hour
			},
			late, "r2.critique.ben.",
		},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			engine, p := engineFor(nil)
			stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
				if r.Delay = time.Second; req.Self == "ben" {
					r.Delay = test.takes(callOf(req))
				}
			})
			config := three()
			config.Rounds, config.RoundTimeout = 3, 13*time.Second
			session := stage.Started(t, engine, config)
			r, err := session.Wait(t.Context())
			assert.ElementsMatch(t, test.late, leftOut(r))
			if test.fails != "" {
				require.ErrorContains(t, err, "for the second round in a row")
				assert.Equal(t, 2, r.Round)
				assert.Contains(t, r.Failure.Op, test.fails)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, flow.EndRounds, r.Reason)
			for _, call := range []string{"r1.refine.ada", "r1.refine.cyd", "r2.critique.ben.ada", "r3.critique.ben.cyd", "r3.refine.ada"} {
				assert.Contains(t, calls(r), call)
			}
		}))
	}
}

// TestSummariesLeaveRefiningItsTime: they are made before the proposals, and count as a phase of the round.
func TestSummariesLeaveRefiningItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p := engineFor(nil)
		stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
			if r.Delay = time.Second; strings.HasPrefix(callOf(req), "r3.critique.ben.") {
				r.Delay = time.Hour
			}
			r.Text += strings.Repeat(" And so on.", 50)
			if req.Schema != nil {
				r.Text = usual(callOf(req), req)
			}
		})
		config := three()
		config.Rounds, config.RoundTimeout, config.Proposals = 3, time.Minute, deliberation.ProposalsFresh
		config.Summaries = deliberation.Summaries{Threshold: 100, MaxLength: 200}
		r := play(t, engine, config)
		assert.Contains(t, calls(r), "r3.summarize.ada")
		assert.ElementsMatch(t, []string{"r3.critique.ben.ada", "r3.critique.ben.cyd"}, leftOut(r))
		assert.Contains(t, calls(r), "r3.refine.ben")
	})
}

// TestATimedNodeStandsInTheOrderOfARound: behind the phase that it follows, so that each phase knows what is still to come.
func TestATimedNodeStandsInTheOrderOfARound(t *testing.T) {
	phases := deliberation.Flow().Timed
	for after, place := range map[flow.State]int{
		deliberation.StateClarifying: 0, deliberation.StateAnswering: 0, deliberation.StatePlanningRound: 0, deliberation.StateSummarizing: 1,
		deliberation.StateProposing: 2, deliberation.StateCritiquing: 3, deliberation.StateRefining: 4, deliberation.StateEvaluating: 4,
		deliberation.AfterRounds: 4,
	} {
		t.Run(string(after), func(t *testing.T) {
			f := deliberation.Flow()
			require.NoError(t, deliberation.Insert(f, after, deliberation.Node{State: "first"}))
			require.NoError(t, deliberation.Insert(f, "first", deliberation.Node{State: "second", Timed: true}))
			want := append(append(append([]flow.State{}, phases[:place]...), "second"), phases[place:]...)
			assert.Equal(t, want, f.Timed)
		})
	}
}

// TestARoundThatItsPhasesFit: what the time of a round is checked against.
func TestARoundThatItsPhasesFit(t *testing.T) {
	for name, times := range map[string][2]time.Duration{
		"no time":                     {0, time.Hour},
		"the least time":              {3 * time.Second, 0},
		"three calls of the default":  {time.Minute, 0},
		"three of the longest calls":  {90 * time.Second, 30 * time.Second},
		"the default time is written": {time.Minute, flow.DefaultTurnTimeout},
		"calls may take longer":       {time.Minute, flow.DefaultTurnTimeout + time.Second},
		"calls may take very long":    {5 * time.Minute, 10 * time.Minute},
	} {
		config := three()
		config.RoundTimeout, config.TurnTimeout = times[0], times[1]
		assert.NoError(t, validated(t, config), name)
	}
}

// TestAStoredDeliberationKeepsTheTimeOfItsRounds: one that an older release has run is restored, although it would be refused now. A
// fork of it needs another time.
func TestAStoredDeliberationKeepsTheTimeOfItsRounds(t *testing.T) {
	older, _ := engineFor(nil)
	older.Flows[deliberation.FlowName].Check = nil
	config := three()
	config.RoundTimeout, config.TurnTimeout = time.Minute, 30*time.Second
	r := play(t, older, config)
	var snapshot bytes.Buffer
	require.NoError(t, older.Export(t.Context(), r.ID, &snapshot))

	engine, _ := engineFor(nil)
	id, err := engine.Import(t.Context(), &snapshot)
	require.NoError(t, err)
	session := stage.Reopen(t, engine, id)
	require.NoError(t, session.Close())
	_, err = engine.Fork(t.Context(), r.ID, r.Seq-1, nil)
	require.ErrorContains(t, err, "raise it to 1m30s, or lower turnTimeout")
	longer := debate.Editing(func(c *deliberation.Config) { c.RoundTimeout = 90 * time.Second })
	fork, err := engine.Fork(t.Context(), r.ID, r.Seq-1, longer)
	require.NoError(t, err)
	require.NoError(t, fork.Close())
}

// TestAnAmendedTimeOfARound is checked as that of a config is.
func TestAnAmendedTimeOfARound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p := engineFor(nil)
		stage.Altered(p, func(_ *provider.Request, r *scripted.Reply) {
			r.Delay = time.Second
		})
		session := stage.Started(t, engine, three())
		for _, test := range []struct {
			round, turn time.Duration // 0: it is not amended
			says        string
		}{
			{60 * time.Millisecond, 0, "three phases do not fit in less than 3s"},
			{time.Minute, 30 * time.Second, "raise it to 1m30s, or lower turnTimeout"},
			{time.Minute, 20 * time.Second, ""},
			{0, 30 * time.Second, "raise it to 1m30s, or lower turnTimeout"},
			{50 * time.Second, 0, "raise it to 1m0s, or lower turnTimeout"},
			{time.Hour, 0, ""},
		} {
			var change flow.Amendment
			if test.round > 0 {
				change.RoundTimeout = new(flow.Duration(test.round))
			}
			if test.turn > 0 {
				change.TurnTimeout = new(flow.Duration(test.turn))
			}
			err := session.Control(t.Context(), change)
			if test.says == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, test.says)
			}
		}
		require.NoError(t, session.Control(t.Context(), flow.Amendment{RoundTimeout: new(flow.Duration(0))}), "no time at all")
		r := stage.Ended(t, session)
		assert.Empty(t, r.SkippedCalls)
	})
}

// TestARetryBetweenTheTimedStates: the time of the round begins anew, and is shared by the states that are still to come.
func TestARetryBetweenTheTimedStates(t *testing.T) {
	node := func(state flow.State, timed bool) deliberation.Node {
		return deliberation.Node{State: state, Timed: timed, Step: flow.Step{Calls: func(r *flow.Record) []*flow.Call {
			id := fmt.Sprintf("r%d.%s", r.Round, state)
			if r.Done(id) || r.Skipped(id) {
				return nil
			}
			return []*flow.Call{{
				ID: id, Kind: "finding", By: "checker", Model: "test/agent", Round: r.Round, View: flow.View{None: true},
				Last: func(*flow.Record) string { return "Check the facts." },
			}}
		}}}
	}
	synctest.Test(t, func(t *testing.T) {
		mended := false
		engine, p := engineFor(func(call string, _ *provider.Request) (scripted.Reply, bool) {
			refused := call == "r1.checking" && !mended
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal, Message: "no"}}, refused
		})
		stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
			switch callOf(req) {
			case "r1.weighing":
				r.Delay = time.Hour // it is cut off after three quarters of the time
			case "r1.refine.ben":
				r.Delay = 10 * time.Second
			}
		})
		require.NoError(t, deliberation.Insert(engine.Flows[deliberation.FlowName], deliberation.StateCritiquing, node("checking", false)))
		require.NoError(t, deliberation.Insert(engine.Flows[deliberation.FlowName], "checking", node("weighing", true)))
		config := three()
		config.Rounds, config.RoundTimeout = 1, time.Minute
		config.OnFailure = []flow.FailureRule{{Kinds: []flow.Kind{provider.KindRefusal}, Do: flow.OptionFail}}
		session := stage.Started(t, engine, config)
		_, err := session.Wait(t.Context())
		require.ErrorIs(t, err, &flow.Error{Kind: provider.KindRefusal})
		mended = true
		require.NoError(t, session.Retry(t.Context()))
		r := stage.Ended(t, session)
		assert.Equal(t, []string{"r1.weighing"}, leftOut(r))
		assert.Contains(t, calls(r), "r1.refine.ben")
	})
}
