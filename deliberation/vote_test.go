package deliberation_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
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
