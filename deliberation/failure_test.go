package deliberation_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// kinds returns the kinds of the warnings and the calls that they are about.
func kinds(r *flow.Record) []string {
	var out []string
	for _, w := range r.Warnings {
		out = append(out, strings.TrimSpace(string(w.Kind)+" "+w.Call))
	}
	return out
}

// TestWhoFailsIsLeftOutOfThePhase: the same rule in every phase. The call is retried, the agent is left out with a
// warning, and the debate goes on as long as two are left. A rule says so.
func TestWhoFailsIsLeftOutOfThePhase(t *testing.T) {
	for name, test := range map[string]struct {
		broken   []string
		warnings []string
		reason   flow.EndReason
		solved   bool
	}{
		"one proposal":                {[]string{"r1.propose.ben"}, []string{"left-out r1.propose.ben"}, flow.EndRounds, true},
		"one critique":                {[]string{"r1.critique.ada.ben"}, []string{"missing r1.critique.ada.ben"}, flow.EndRounds, true},
		"the critiques of one":        {[]string{"r2.critique.ada.*"}, []string{"left-out r2.critique.ada.ben", "left-out r2.critique.ada.cyd"}, flow.EndRounds, true},
		"one refinement":              {[]string{"r1.refine.cyd"}, []string{"left-out r1.refine.cyd"}, flow.EndRounds, true},
		"a refinement and a proposal": {[]string{"r1.propose.ben", "r1.refine.cyd"}, []string{"left-out r1.propose.ben", "left-out r1.refine.cyd"}, flow.EndRounds, true},
	} {
		t.Run(name, func(t *testing.T) {
			engine, _ := engineFor(broken(test.broken...))
			r := play(t, engine, three())
			assert.Equal(t, flow.StateCompleted, r.State)
			assert.Equal(t, test.warnings, kinds(r))
			assert.Equal(t, test.reason, r.Reason, r.Evidence)
			_, _, ok := solved(r)
			assert.Equal(t, test.solved, ok)
			for _, w := range r.Warnings {
				if w.Kind == flow.WarnLeftOut {
					assert.Contains(t, w.Call, w.By)
				}
			}
		})
	}
}

// TestARuleLeavesTwoAgents: where fewer would be left, the deliberation stops, and continues when the cause is gone.
func TestARuleLeavesTwoAgents(t *testing.T) {
	for name, calls := range map[string][]string{
		"two proposals": {"r1.propose.a*", "r1.propose.b*"}, "all proposals": {"r1.propose.*"},
		"the critiques of two": {"r1.critique.ada.*", "r1.critique.ben.*"}, "two refinements": {"r2.refine.ada", "r2.refine.cyd"},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			mended := false
			breaks := broken(calls...)
			engine, _ := engineFor(func(call string, req *provider.Request) (scripted.Reply, bool) {
				reply, ok := breaks(call, req)
				return reply, ok && !mended
			})
			config := three()
			config.Unattended = true
			session := stage.Started(t, engine, config)
			r, err := session.Wait(t.Context())
			require.Error(t, err)
			require.Equal(t, flow.StateError, r.State)
			most := map[string]int{"the critiques of two": 3}[name] // the fourth would leave out the second agent
			assert.NotEmpty(t, r.SkippedCalls)
			assert.LessOrEqual(t, len(r.SkippedCalls), max(1, most))
			for _, skip := range r.SkippedCalls {
				assert.NotEqual(t, skip.Call, r.Failure.Op)
			}
			synctest.Wait() // what else was in flight fails before the cause is gone
			mended = true
			require.NoError(t, session.Retry(t.Context()))
			r = stage.Ended(t, session)
			assert.Equal(t, flow.EndRounds, r.Reason, r.Evidence)
			assert.Empty(t, r.EndedEarlyBy)
			_, _, ok := solved(r)
			assert.True(t, ok)
		}))
	}
}

func TestFailedCallsAreRetriedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p := engineFor(nil)
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			if call := callOf(req); (strings.HasSuffix(call, ".ben") || call == "synthesis") && strings.HasSuffix(req.ID, "/1") {
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindNetwork}}
			}
			return reply(req)
		}
		config := three()
		r := play(t, engine, config)
		assert.Empty(t, r.Warnings)
		assert.Len(t, r.Turns, 3+2*9+1)
	})
}

func TestWhoIsLeftOutOfRefiningCarriesItsLatestOver(t *testing.T) {
	engine, p := engineFor(broken("r1.refine.ben"))
	r := play(t, engine, three())
	assert.Contains(t, prompt(t, p, "r2.critique.ada.ben"), said("r1.propose.ben"))
	refine := prompt(t, p, "r2.refine.ben")
	assert.Contains(t, refine, said("r1.propose.ben"))
	assert.Contains(t, refine, said("r1.critique.ada.ben"), "what was objected is not forgotten")
	assert.Equal(t, 1, strings.Count(refine, said("r1.propose.ben")))
	synthesis := prompt(t, p, "synthesis")
	for _, c := range view(r).Contributions() {
		assert.Equal(t, 1, strings.Count(synthesis, c.Text), "%s stands there once", c.Text)
	}
}

func TestWithoutAProposalAnAgentStillCritiquesAndProposesInTheNextRound(t *testing.T) {
	engine, p := engineFor(broken("r1.propose.ben"))
	r := play(t, engine, three())
	made := calls(r)
	assert.Contains(t, made, "r1.critique.ben.ada")
	assert.Contains(t, made, "r1.critique.ben.cyd")
	assert.NotContains(t, made, "r1.critique.ada.ben", "there is nothing to critique")
	assert.NotContains(t, made, "r1.refine.ben")
	assert.Contains(t, made, "r2.propose.ben")
	assert.NotContains(t, made, "r2.propose.ada")
	assert.Contains(t, prompt(t, p, "r2.critique.ada.ben"), said("r2.propose.ben"))
}

func TestWithoutCritiquesThereIsNoRefineCall(t *testing.T) {
	engine, p := engineFor(broken("r1.critique.ada.cyd", "r1.critique.ben.cyd"))
	r := play(t, engine, three())
	assert.NotContains(t, calls(r), "r1.refine.cyd")
	assert.Contains(t, prompt(t, p, "r2.critique.ada.cyd"), said("r1.propose.cyd"))
	assert.Equal(t, flow.EndRounds, r.Reason)
}

// TestTheTimeOfARound: who is late is left out, and the next phase begins.
func TestTheTimeOfARound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p := engineFor(nil)
		stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
			r.Delay = time.Second
			if strings.HasPrefix(callOf(req), "r1.critique.cyd") || callOf(req) == "r2.refine.ben" {
				r.Delay = time.Hour
			}
		})
		config := three()
		config.Rounds, config.RoundTimeout = 3, time.Minute
		began := time.Now()
		r := play(t, engine, config)
		assert.Equal(t, []string{
			"missing r1.critique.cyd.ada", "missing r1.critique.cyd.ben", "round-time", "missing r2.refine.ben",
		}, kinds(r))
		assert.Equal(t, flow.EndRounds, r.Reason)
		assert.Contains(t, calls(r), "r1.refine.ada", "the critiques have only their share of the time")
		assert.Contains(t, calls(r), "r2.refine.ada")
		assert.Less(t, time.Since(began), 2*time.Minute, "the refinements of the first round took their share, and no more")
		for _, skip := range r.SkippedCalls {
			assert.Empty(t, skip.Cause, "%s is late, and has not failed", skip.Call)
		}
	})
}

// TestStopConcludesWithWhatThereIs: a host may stop at any time.
func TestStopConcludesWithWhatThereIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p := engineFor(nil)
		stage.Altered(p, func(_ *provider.Request, r *scripted.Reply) {
			r.Delay = time.Second
		})
		session := stage.Started(t, engine, three())
		time.Sleep(1500 * time.Millisecond) //nolint:forbidigo // in a bubble nobody waits
		require.NoError(t, session.Stop(t.Context()))
		r := stage.Ended(t, session)
		_, _, ok := solved(r)
		assert.True(t, ok)
		assert.Contains(t, prompt(t, p, "synthesis"), "ended early")
	})
}

// TestWhoIsLateIsNotLeftOutForGood: the next phase begins even if nobody was in time.
func TestWhoIsLateIsNotLeftOutForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p := engineFor(nil)
		stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
			if call := callOf(req); call == "r1.propose.ben" || strings.HasPrefix(call, "r2.critique.") {
				r.Delay = time.Hour
			}
		})
		config := three()
		config.Rounds, config.RoundTimeout = 3, time.Minute
		r := play(t, engine, config)
		assert.Equal(t, flow.EndRounds, r.Reason)
		for _, req := range p.Requests() {
			assert.NotContains(t, req.ID, "/r1.critique.ada.ben", "there is nothing to critique")
			assert.NotContains(t, req.ID, "/r2.refine", "without critiques there is nothing to refine by")
		}
		assert.Contains(t, calls(r), "r1.critique.ben.ada", "whoever is late takes part in the next phase")
		assert.Contains(t, calls(r), "r2.propose.ben")
		assert.Contains(t, calls(r), "r3.refine.ben")
	})
}

// TestProposalsThatAreAllLate: nobody has decided to do without them, so the deliberation fails, and Retry asks again.
func TestProposalsThatAreAllLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p := engineFor(nil)
		reply := p.Reply
		slow := true
		p.Reply = func(req *provider.Request) scripted.Reply {
			r := reply(req)
			if call := callOf(req); slow && (call == "r1.propose.ben" || call == "r1.propose.cyd") {
				r.Delay = time.Hour
			}
			return r
		}
		config := three()
		config.RoundTimeout = time.Minute
		session := stage.Started(t, engine, config)
		r, err := session.Wait(t.Context())
		require.ErrorIs(t, err, &flow.Error{Kind: provider.KindTimeout})
		require.ErrorContains(t, err, "1 of 3 agents have a proposal")
		assert.Equal(t, flow.StateError, r.State)
		slow = false
		require.NoError(t, session.Retry(t.Context()))
		r = stage.Ended(t, session)
		assert.Empty(t, r.SkippedCalls)
		_, _, ok := solved(r)
		assert.True(t, ok)
	})
}

// TestProposalsThatAreLateWhileAPersonIsAsked: the answer gives one proposal, and Retry asks the others again.
func TestProposalsThatAreLateWhileAPersonIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p := engineFor(nil)
		reply, slow := p.Reply, true
		p.Reply = func(req *provider.Request) scripted.Reply {
			r := reply(req)
			switch call := callOf(req); {
			case !slow:
			case call == "r1.propose.cyd":
				r.Err = &provider.Error{Kind: provider.KindAuthentication, Message: "no"}
			case strings.HasPrefix(call, "r1.propose."):
				r.Delay = 10 * time.Minute
			}
			return r
		}
		config := three()
		config.RoundTimeout, config.Unattended, config.OnFailure = time.Minute, false, nil
		session := stage.Started(t, engine, config)
		r := stage.AwaitsInput(t, session)
		slow = false
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: r.Inquiries[0].ID, Option: flow.OptionRetry}))
		_, err := session.Wait(t.Context())
		require.ErrorIs(t, err, &flow.Error{Kind: provider.KindTimeout})
		require.NoError(t, session.Retry(t.Context()))
		r = stage.Ended(t, session)
		_, _, ok := solved(r)
		assert.True(t, ok)
		assert.Empty(t, r.SkippedCalls)
	})
}
