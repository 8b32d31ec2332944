package deliberation_test

import (
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

// TestAMissingVoteTellsWhy: the warning names the voter, the call and the kind of failure.
func TestAMissingVoteTellsWhy(t *testing.T) {
	config := three()
	config.Synthesis = deliberation.SynthesisVoting
	engine, _ := engineFor(func(call string, _ *provider.Request) (scripted.Reply, bool) {
		return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal}}, call == "vote.ben"
	})
	r := play(t, engine, config)
	assert.Equal(t, []flow.Warning{{
		Kind: flow.WarnLeftOut, Call: "vote.ben", By: "ben", Evidence: "ben is left out of the vote: vote.ben has failed for good (refusal)",
	}}, r.Warnings)
	ballots, _ := view(r).Votes()
	assert.Len(t, ballots, 3, "of Ada, Cyd and the judge")
}

// TestWhoHasNoProposalRanksAll: what a voter has been shown depends on who it is.
func TestWhoHasNoProposalRanksAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := three()
		config.Synthesis, config.Rounds, config.Judge = deliberation.SynthesisVoting, 1, deliberation.Judge{}
		first := true
		engine, _ := engineFor(func(call string, _ *provider.Request) (scripted.Reply, bool) {
			switch {
			case call == "r1.propose.cyd":
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal}}, true
			case call == "vote.cyd" && first:
				first = false
				return scripted.Reply{Text: toJSON(deliberation.Vote{Ranking: []string{"ada"}})}, true
			}
			return scripted.Reply{}, false
		})
		r := play(t, engine, config)
		if assert.Len(t, r.Rejections, 1) {
			assert.Equal(t, []string{"ranking: the proposal of ben, that you have been shown, is missing"}, r.Rejections[0].Problems)
		}
		ballots, scores := view(r).Votes()
		rankings := map[string][]string{}
		for _, ballot := range ballots {
			rankings[ballot.Voter] = ballot.Ranking
		}
		assert.Equal(t, map[string][]string{"ada": {"ben"}, "ben": {"ada"}, "cyd": {"ada", "ben"}}, rankings)
		assert.Equal(t, "ada", scores[0].Agent)
	})
}

// TestHowManyVotesARuleSkips: at least half of the voters have voted. A person may do without all of them.
func TestHowManyVotesARuleSkips(t *testing.T) {
	for name, test := range map[string]struct {
		agents int
		judge  bool
		failed []string
		skips  int
		stops  bool
	}{
		"two of four":   {3, true, []string{"vote.ada", "vote.ben"}, 2, false},
		"three of four": {3, true, []string{"vote.ada", "vote.ben", "vote.judge"}, 2, true},
		"one of three":  {3, false, []string{"vote.cyd"}, 1, false},
		"two of three":  {3, false, []string{"vote.ada", "vote.cyd"}, 1, true},
		"all of four":   {3, true, []string{"vote."}, 2, true},
		"one of two":    {2, false, []string{"vote.ada"}, 1, false},
		"both of two":   {2, false, []string{"vote."}, 1, true},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := three()
			config.Synthesis, config.Rounds, config.Agents = deliberation.SynthesisVoting, 1, config.Agents[:test.agents]
			if !test.judge {
				config.Judge = deliberation.Judge{}
			}
			failed, done := settled(t, config, test.failed...)
			assert.Equal(t, test.stops, failed != nil)
			assert.Len(t, done.SkippedCalls, test.skips)
			if failed != nil {
				assert.Equal(t, deliberation.KindVote, flow.CallKind(strings.Split(failed.Failure.Op, ".")[0]))
			}
			for _, skip := range done.SkippedCalls {
				assert.Equal(t, flow.EndedByRule, done.SkippedBy(skip.Call))
			}

			config.OnFailure = nil
			mended := false
			engine, _ := engineFor(refusing(&mended, test.failed...))
			r := choosing(t, engine, config, flow.OptionSkip)
			_, _, ok := solved(r)
			assert.True(t, ok, "a person may skip all of them")
		}))
	}
}

// choosing plays a deliberation in which a person chooses the same whenever it is asked.
func choosing(t *testing.T, engine *debate.Engine, config deliberation.Config, option flow.Option) *flow.Record {
	t.Helper()
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	for {
		r, err := session.Wait(t.Context())
		if err == nil {
			return r
		}
		require.ErrorIs(t, err, debate.ErrAwaitingInput)
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: r.Inquiries[0].ID, Option: option}))
	}
}

// TestAnOutageOfTheWinner is waited for: nobody else writes the solution. If the winner is left out after it, the next one
// does, and a warning says so.
func TestAnOutageOfTheWinner(t *testing.T) {
	for name, test := range map[string]struct {
		outage  time.Duration
		rules   []flow.FailureRule
		by      string
		waited  time.Duration
		warning []string
	}{
		"short":             {20 * time.Second, nil, "ada", 20 * time.Second, []string{"outage synthesis.ada"}},
		"long, with a skip": {time.Hour, []flow.FailureRule{{Do: flow.OptionSkip}}, "ben", 9 * time.Minute, []string{"outage synthesis.ada", "left-out synthesis.ada"}},
		"long, with a drop": {time.Hour, []flow.FailureRule{{Do: flow.OptionDrop}}, "ben", 9 * time.Minute, []string{"outage synthesis.ada", "left-out synthesis.ada"}},
		"long, with none":   {time.Hour, nil, "", 9 * time.Minute, []string{"outage synthesis.ada"}},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := three()
			config.Synthesis, config.Rounds, config.Unattended = deliberation.SynthesisVoting, 1, true
			config.OnFailure, config.Patience, config.Retry = test.rules, 0, nil
			var began time.Time
			engine, _ := engineFor(func(call string, _ *provider.Request) (scripted.Reply, bool) {
				if call == "synthesis.ada" && began.IsZero() {
					began = time.Now()
				}
				down := call == "synthesis.ada" && time.Since(began) < test.outage
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindNetwork, NotSent: true}}, down
			})
			session := stage.Started(t, engine, config)
			r, err := session.Wait(t.Context())
			_, by, _ := solved(r)
			assert.Equal(t, test.by, by)
			assert.GreaterOrEqual(t, r.LastAt.Sub(began), test.waited)
			assert.Equal(t, test.warning, kinds(r))
			if test.by != "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, &debate.Error{Kind: provider.KindNetwork})
			time.Sleep(time.Hour) //nolint:forbidigo // in a bubble nobody waits
			require.NoError(t, session.Retry(t.Context()))
			r = stage.Ended(t, session)
			_, by, _ = solved(r)
			assert.Equal(t, "ada", by)
		}))
	}
}
