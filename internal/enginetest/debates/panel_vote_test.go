package debates_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/vote"
)

func TestProtocols(t *testing.T) {
	t.Parallel()
	type winners = map[debate.Protocol]string
	a, b, none := stage.Scored("Ada", 90, 80, 10), stage.Scored("Ben", 10, 90, 80), stage.Scored("", 50, 50, 50)
	c := stage.Scored("Cyd", 10, 80, 90)
	for name, test := range map[string]struct {
		rules []stage.Ruling
		want  winners
		tally []vote.Count
	}{
		"a plurality": {
			[]stage.Ruling{a, a, b, c, none},
			winners{debate.Plurality: "Ada", debate.Borda: "Ben"},
			[]vote.Count{{Name: "Ada", Votes: 2}, {Name: "Ben", Votes: 1}, {Name: "Cyd", Votes: 1}},
		},
		"a majority whose candidate is the last choice of the others": {
			[]stage.Ruling{a, a, a, b, b},
			winners{debate.Plurality: "Ada", debate.Majority: "Ada", debate.Borda: "Ben"},
			[]vote.Count{{Name: "Ada", Votes: 3}, {Name: "Ben", Votes: 2}},
		},
		"two thirds": {
			[]stage.Ruling{a, a, b},
			winners{debate.Plurality: "Ada", debate.Majority: "Ada", debate.Supermajority: "Ada"},
			[]vote.Count{{Name: "Ada", Votes: 2}, {Name: "Ben", Votes: 1}},
		},
		"half, and the others see a tie": {
			[]stage.Ruling{a, a, none, none},
			winners{debate.Plurality: "Ada", debate.Borda: "Ada"},
			[]vote.Count{{Name: "Ada", Votes: 2}},
		},
		"all but one, who sees a tie": {
			[]stage.Ruling{a, a, none},
			winners{debate.Plurality: "Ada", debate.Majority: "Ada", debate.Supermajority: "Ada", debate.Borda: "Ada"},
			[]vote.Count{{Name: "Ada", Votes: 2}},
		},
		"all": {
			[]stage.Ruling{c, c, c},
			winners{
				debate.Plurality: "Cyd", debate.Majority: "Cyd", debate.Supermajority: "Cyd", debate.Unanimity: "Cyd", debate.Borda: "Cyd",
			},
			[]vote.Count{{Name: "Cyd", Votes: 3}},
		},
		"nobody":       {[]stage.Ruling{none, none, none}, winners{}, nil},
		"one to one":   {[]stage.Ruling{a, b}, winners{debate.Borda: "Ben"}, []vote.Count{{Name: "Ada", Votes: 1}, {Name: "Ben", Votes: 1}}},
		"a judge only": {[]stage.Ruling{b}, winners{debate.Plurality: "Ben", debate.Majority: "Ben", debate.Supermajority: "Ben", debate.Unanimity: "Ben", debate.Borda: "Ben"}, []vote.Count{{Name: "Ben", Votes: 1}}},
	} {
		for _, protocol := range []debate.Protocol{debate.Majority, debate.Plurality, debate.Supermajority, debate.Unanimity, debate.Borda} {
			t.Run(name+"/"+string(protocol), func(t *testing.T) {
				c := stage.NewCourt(test.rules...)
				c.Config.Judging.Protocol = protocol
				record := stage.Run(t, c.Engine, c.Config)
				outcome := stage.View(record).Outcome()
				assert.Equal(t, test.want[protocol], outcome.Winner)
				assert.Equal(t, test.want[protocol] == "", outcome.Tie)
				assert.Empty(t, outcome.Degraded, "to be undecided is not to be degraded")
				if protocol != debate.Borda {
					assert.Equal(t, test.tally, outcome.Votes)
				}
				agrees := slices.ContainsFunc(test.rules, func(r stage.Ruling) bool { return r.Winner == outcome.Winner })
				require.Equal(t, agrees, stage.View(record).Verdict != nil, "somebody who agrees speaks for the panel")
				if agrees && outcome.Winner != "" {
					assert.Equal(t, outcome.Winner, stage.View(record).Verdict.Winner.Participant)
				}
			})
		}
	}
}

// The points of Borda's count are doubled (package vote): three times Ada, Ben, Cyd give 12, 6 and 0,
// twice Ben, Cyd, Ada 8, 4 and 0.
func TestBordaCountsRanks(t *testing.T) {
	a, b := stage.Scored("Ada", 90, 80, 10), stage.Scored("Ben", 10, 90, 80)
	c := stage.NewCourt(a, a, a, b, b)
	c.Config.Judging.Protocol = debate.Borda
	outcome := stage.View(stage.Run(t, c.Engine, c.Config)).Outcome()
	assert.Equal(t, []vote.Count{{Name: "Ben", Votes: 14}, {Name: "Ada", Votes: 12}, {Name: "Cyd", Votes: 4}}, outcome.Votes)
	require.Len(t, outcome.Dissent, 3)
	assert.Equal(t, "Ada", outcome.Dissent[0].Winner)
}

// TestRanksKnowTheRuleForTies: judges are told from where on somebody is ahead, and ranks of their scores have no winner before that.
func TestRanksKnowTheRuleForTies(t *testing.T) {
	for name, test := range map[string]struct {
		rules  []stage.Ruling
		winner string
		votes  []vote.Count
	}{
		"level for all":           {[]stage.Ruling{stage.Scored("", 80, 79), stage.Scored("", 72, 70)}, "", nil},
		"level for one":           {[]stage.Ruling{stage.Scored("", 79, 80), stage.ForAda()}, "Ada", []vote.Count{{Name: "Ada", Votes: 2}, {Name: "Ben", Votes: 0}}},
		"just ahead":              {[]stage.Ruling{stage.Scored("Ada", 80, 77)}, "Ada", []vote.Count{{Name: "Ada", Votes: 2}, {Name: "Ben", Votes: 0}}},
		"level behind the winner": {[]stage.Ruling{stage.Scored("Ada", 90, 61, 60)}, "Ada", []vote.Count{{Name: "Ada", Votes: 4}, {Name: "Ben", Votes: 2}, {Name: "Cyd", Votes: 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			c := stage.NewCourt(test.rules...)
			c.Config.Judging.Protocol = debate.Borda
			outcome := stage.View(stage.Run(t, c.Engine, c.Config)).Outcome()
			assert.Equal(t, test.winner, outcome.Winner)
			assert.Equal(t, test.votes, outcome.Votes)
			assert.Empty(t, outcome.Notes)
		})
	}
}

func TestDissentIsKept(t *testing.T) {
	c := stage.NewCourt(stage.ForAda(), stage.ForBen(), stage.ForAda(), stage.ForNobody())
	c.Config.Judging.Protocol = debate.Plurality
	outcome := stage.View(stage.Run(t, c.Engine, c.Config)).Outcome()
	assert.Equal(t, "Ada", outcome.Winner)
	assert.Equal(t, debate.For, outcome.Side)
	assert.Equal(t, format.ByJudges, outcome.Decision)
	assert.Equal(t, []debate.Dissent{
		{Judge: "judge-2", Winner: "Ben", Reasoning: "Because word of judge-2"},
		{Judge: "judge-4", Winner: "", Reasoning: "In sum: word of judge-4"},
	}, outcome.Dissent)
	assert.InDeltaMapValues(t, map[string]float64{"Ada": (80 + 60 + 80 + 70) / 4.0, "Ben": (60 + 80 + 60 + 70) / 4.0}, outcome.Scores, 1e-9)
}
