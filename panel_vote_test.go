package debate_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/vote"
)

func TestProtocols(t *testing.T) {
	t.Parallel()
	type winners = map[debate.Protocol]string
	a, b, none := scored("Ada", 90, 80, 10), scored("Ben", 10, 90, 80), scored("", 50, 50, 50)
	c := scored("Cyd", 10, 80, 90)
	for name, test := range map[string]struct {
		rules []ruling
		want  winners
		tally []vote.Count
	}{
		"a plurality": {
			[]ruling{a, a, b, c, none},
			winners{debate.Plurality: "Ada", debate.Borda: "Ben"},
			[]vote.Count{{Name: "Ada", Votes: 2}, {Name: "Ben", Votes: 1}, {Name: "Cyd", Votes: 1}},
		},
		"a majority whose candidate is the last choice of the others": {
			[]ruling{a, a, a, b, b},
			winners{debate.Plurality: "Ada", debate.Majority: "Ada", debate.Borda: "Ben"},
			[]vote.Count{{Name: "Ada", Votes: 3}, {Name: "Ben", Votes: 2}},
		},
		"two thirds": {
			[]ruling{a, a, b},
			winners{debate.Plurality: "Ada", debate.Majority: "Ada", debate.Supermajority: "Ada"},
			[]vote.Count{{Name: "Ada", Votes: 2}, {Name: "Ben", Votes: 1}},
		},
		"half, and the others see a tie": {
			[]ruling{a, a, none, none},
			winners{debate.Plurality: "Ada", debate.Borda: "Ada"},
			[]vote.Count{{Name: "Ada", Votes: 2}},
		},
		"all but one, who sees a tie": {
			[]ruling{a, a, none},
			winners{debate.Plurality: "Ada", debate.Majority: "Ada", debate.Supermajority: "Ada", debate.Borda: "Ada"},
			[]vote.Count{{Name: "Ada", Votes: 2}},
		},
		"all": {
			[]ruling{c, c, c},
			winners{
				debate.Plurality: "Cyd", debate.Majority: "Cyd", debate.Supermajority: "Cyd", debate.Unanimity: "Cyd", debate.Borda: "Cyd",
			},
			[]vote.Count{{Name: "Cyd", Votes: 3}},
		},
		"nobody":       {[]ruling{none, none, none}, winners{}, nil},
		"one to one":   {[]ruling{a, b}, winners{debate.Borda: "Ben"}, []vote.Count{{Name: "Ada", Votes: 1}, {Name: "Ben", Votes: 1}}},
		"a judge only": {[]ruling{b}, winners{debate.Plurality: "Ben", debate.Majority: "Ben", debate.Supermajority: "Ben", debate.Unanimity: "Ben", debate.Borda: "Ben"}, []vote.Count{{Name: "Ben", Votes: 1}}},
	} {
		for _, protocol := range []debate.Protocol{debate.Majority, debate.Plurality, debate.Supermajority, debate.Unanimity, debate.Borda} {
			t.Run(name+"/"+string(protocol), func(t *testing.T) {
				c := newCourt(test.rules...)
				c.config.Judging.Protocol = protocol
				record := run(t, c.engine, c.config)
				outcome := view(record).Outcome()
				assert.Equal(t, test.want[protocol], outcome.Winner)
				assert.Equal(t, test.want[protocol] == "", outcome.Tie)
				assert.Empty(t, outcome.Degraded, "to be undecided is not to be degraded")
				if protocol != debate.Borda {
					assert.Equal(t, test.tally, outcome.Votes)
				}
				agrees := slices.ContainsFunc(test.rules, func(r ruling) bool { return r.winner == outcome.Winner })
				require.Equal(t, agrees, view(record).Verdict != nil, "somebody who agrees speaks for the panel")
				if agrees && outcome.Winner != "" {
					assert.Equal(t, outcome.Winner, view(record).Verdict.Winner.Participant)
				}
			})
		}
	}
}

// The points of Borda's count are doubled (package vote): three times Ada, Ben, Cyd give 12, 6 and 0,
// twice Ben, Cyd, Ada 8, 4 and 0.
func TestBordaCountsRanks(t *testing.T) {
	a, b := scored("Ada", 90, 80, 10), scored("Ben", 10, 90, 80)
	c := newCourt(a, a, a, b, b)
	c.config.Judging.Protocol = debate.Borda
	outcome := view(run(t, c.engine, c.config)).Outcome()
	assert.Equal(t, []vote.Count{{Name: "Ben", Votes: 14}, {Name: "Ada", Votes: 12}, {Name: "Cyd", Votes: 4}}, outcome.Votes)
	require.Len(t, outcome.Dissent, 3)
	assert.Equal(t, "Ada", outcome.Dissent[0].Winner)
}

func TestDissentIsKept(t *testing.T) {
	c := newCourt(forAda(), forBen(), forAda(), noOne())
	c.config.Judging.Protocol = debate.Plurality
	outcome := view(run(t, c.engine, c.config)).Outcome()
	assert.Equal(t, "Ada", outcome.Winner)
	assert.Equal(t, debate.For, outcome.Side)
	assert.Equal(t, format.ByJudges, outcome.Decision)
	assert.Equal(t, []debate.Dissent{
		{Judge: "judge-2", Winner: "Ben", Reasoning: "Because word of judge-2"},
		{Judge: "judge-4", Winner: "", Reasoning: "In sum: word of judge-4"},
	}, outcome.Dissent)
	assert.InDeltaMapValues(t, map[string]float64{"Ada": (80 + 60 + 80 + 70) / 4.0, "Ben": (60 + 80 + 60 + 70) / 4.0}, outcome.Scores, 1e-9)
}
