package deliberation_test

import (
	"strings"
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
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				engine, p := engineFor(nil)
				reply := p.Reply
				p.Reply = func(req *provider.Request) scripted.Reply {
					r := reply(req)
					if r.Delay = time.Second; req.Self == "ben" {
						r.Delay = test.takes(callOf(req))
					}
					return r
				}
				config := three()
				config.Rounds, config.RoundTimeout = 3, 13*time.Second
				session, err := engine.Start(t.Context(), config)
				require.NoError(t, err)
				defer session.Close()
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
			})
		})
	}
}

// TestSummariesLeaveRefiningItsTime: they are made before the proposals, and count as a phase of the round.
func TestSummariesLeaveRefiningItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p := engineFor(nil)
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			r := reply(req)
			if r.Delay = time.Second; strings.HasPrefix(callOf(req), "r3.critique.ben.") {
				r.Delay = time.Hour
			}
			r.Text += strings.Repeat(" And so on.", 50)
			if req.Schema != nil {
				r.Text = usual(callOf(req), req)
			}
			return r
		}
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
	} {
		config := three()
		config.RoundTimeout, config.TurnTimeout = times[0], times[1]
		assert.NoError(t, validated(t, config), name)
	}
}
