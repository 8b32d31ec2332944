package deliberation_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
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
// warning, and the debate goes on as long as two are left.
func TestWhoFailsIsLeftOutOfThePhase(t *testing.T) {
	for name, test := range map[string]struct {
		broken   []string
		warnings []string
		reason   flow.EndReason
		solved   bool
	}{
		"one proposal":                {[]string{"r1.propose.ben"}, []string{"left-out r1.propose.ben"}, flow.EndRounds, true},
		"two proposals":               {[]string{"r1.propose.a*", "r1.propose.b*"}, []string{"left-out r1.propose.ada", "left-out r1.propose.ben"}, flow.EndTooFew, true},
		"all proposals":               {[]string{"r1.propose.*"}, []string{"left-out r1.propose.ada", "left-out r1.propose.ben", "left-out r1.propose.cyd", "no-solution"}, flow.EndTooFew, false},
		"one critique":                {[]string{"r1.critique.ada.ben"}, []string{"left-out r1.critique.ada.ben"}, flow.EndRounds, true},
		"the critiques of one":        {[]string{"r2.critique.ada.*"}, []string{"left-out r2.critique.ada.ben", "left-out r2.critique.ada.cyd"}, flow.EndRounds, true},
		"the critiques of two":        {[]string{"r1.critique.ada.*", "r1.critique.ben.*"}, []string{"left-out r1.critique.ada.ben", "left-out r1.critique.ada.cyd", "left-out r1.critique.ben.cyd", "left-out r1.critique.ben.ada"}, flow.EndTooFew, true},
		"one refinement":              {[]string{"r1.refine.cyd"}, []string{"left-out r1.refine.cyd"}, flow.EndRounds, true},
		"two refinements":             {[]string{"r2.refine.ada", "r2.refine.cyd"}, []string{"left-out r2.refine.ada", "left-out r2.refine.cyd"}, flow.EndTooFew, true},
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

// TestTheTimeOfARound: who is late is left out, and the next round begins.
func TestTheTimeOfARound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p := engineFor(nil)
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			r := reply(req)
			r.Delay = time.Second
			if strings.HasPrefix(callOf(req), "r1.critique.cyd") || callOf(req) == "r2.refine.ben" {
				r.Delay = time.Hour
			}
			return r
		}
		config := three()
		config.Rounds, config.RoundTimeout = 3, time.Minute
		began := time.Now()
		r := play(t, engine, config)
		assert.Equal(t, []string{
			"round-time", "left-out r1.critique.cyd.ada", "left-out r1.critique.cyd.ben", "round-time", "left-out r2.refine.ben",
		}, kinds(r))
		assert.Equal(t, flow.EndRounds, r.Reason)
		assert.NotContains(t, calls(r), "r1.refine.ada", "the round was over")
		assert.Contains(t, calls(r), "r2.refine.ada")
		assert.Equal(t, 2*time.Minute+3*time.Second, time.Since(began))
	})
}

// TestStopConcludesWithWhatThereIs: a host may stop at any time.
func TestStopConcludesWithWhatThereIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p := engineFor(nil)
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			r := reply(req)
			r.Delay = time.Second
			return r
		}
		session, err := engine.Start(t.Context(), three())
		require.NoError(t, err)
		defer session.Close()
		time.Sleep(1500 * time.Millisecond) //nolint:forbidigo // in a bubble nobody waits
		require.NoError(t, session.Stop(t.Context()))
		r, err := session.Wait(t.Context())
		require.NoError(t, err)
		_, _, ok := solved(r)
		assert.True(t, ok)
		assert.Contains(t, prompt(t, p, "synthesis"), "ended early")
	})
}

// TestWhoIsLateIsNotLeftOutForGood: when a round's time is over nothing more is asked in it, and the next one begins
// even if nobody was in time.
func TestWhoIsLateIsNotLeftOutForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p := engineFor(nil)
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			r := reply(req)
			if call := callOf(req); call == "r1.propose.ben" || strings.HasPrefix(call, "r2.critique.") {
				r.Delay = time.Hour
			}
			return r
		}
		config := three()
		config.Rounds, config.RoundTimeout = 3, time.Minute
		r := play(t, engine, config)
		assert.Equal(t, flow.EndRounds, r.Reason)
		for _, req := range p.Requests() {
			assert.NotContains(t, req.ID, "/r1.critique", "the round was over")
			assert.NotContains(t, req.ID, "/r2.refine")
		}
		assert.Contains(t, calls(r), "r2.propose.ben")
		assert.Contains(t, calls(r), "r3.refine.ben")
	})
}
