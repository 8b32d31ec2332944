package debate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
)

// If the winner is not the one with the highest score, the outcome says so, and a decision for nobody is no tie.
func TestAWinnerAgainstTheScoresIsNoted(t *testing.T) {
	for name, test := range map[string]struct {
		rules  []ruling
		winner string
		tie    bool
		notes  []string
	}{
		"the higher score":       {[]ruling{forAda()}, "Ada", false, nil},
		"the lower score":        {[]ruling{scored("Ada", 60, 61)}, "Ada", false, []string{"Ada has won with a lower score than Ben: 60 against 61"}},
		"the same score":         {[]ruling{scored("Ada", 60, 60)}, "Ada", false, nil},
		"nobody, level":          {[]ruling{noOne()}, "", true, nil},
		"nobody, far from level": {[]ruling{scored("", 90, 10)}, "", false, []string{"nobody has won, although Ada has the highest score: 90"}},
		"nobody, by all": {
			[]ruling{scored("", 90, 10), scored("", 80, 20)}, "", false, []string{"nobody has won, although Ada has the highest score: 85"},
		},
		"nobody, by one": {[]ruling{scored("", 90, 10), forAda()}, "", true, nil},
		"no majority":    {[]ruling{forAda(), forBen()}, "", true, nil},
		"the lower of two": {
			[]ruling{scored("Ada", 60, 61), scored("Ada", 60, 62), scored("Ben", 10, 92)},
			"Ada", false,
			[]string{"Ada has won with a lower score than Ben: 43.33 against 71.67"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCourt(test.rules...)
			outcome := view(run(t, c.engine, c.config)).Outcome()
			assert.Equal(t, test.winner, outcome.Winner)
			assert.Equal(t, test.tie, outcome.Tie)
			assert.Equal(t, test.notes, outcome.Notes)
		})
	}
}

// Means have no more than two decimals.
func TestMeansOfScoresAreRounded(t *testing.T) {
	c := newCourt(scored("Ada", 4, 3), scored("Ada", 4, 3), scored("Ada", 3, 2))
	assert.Equal(t, map[string]float64{"Ada": 3.67, "Ben": 2.67}, view(run(t, c.engine, c.config)).Outcome().Scores)
}

// The verdict of a record never names somebody other than its outcome.
func TestTheVerdictAgreesWithTheOutcome(t *testing.T) {
	for name, test := range map[string]struct {
		rules   []ruling
		change  func(*court)
		verdict string // whose; "": none
	}{
		"one judge":                    {[]ruling{forAda()}, nil, "judge-1"},
		"one judge, for nobody":        {[]ruling{noOne()}, nil, "judge-1"},
		"the first for the winner":     {[]ruling{forBen(), forAda(), forAda()}, nil, "judge-2"},
		"no majority":                  {[]ruling{forAda(), forBen()}, nil, ""},
		"no majority, one for nobody":  {[]ruling{forAda(), forBen(), noOne()}, nil, "judge-3"},
		"another winner by the points": {[]ruling{scored("Ben", 80, 60)}, func(c *court) { c.config.Judging.Protocol = debate.Borda }, ""},
		"other winners in both orders": {[]ruling{forAda()}, func(c *court) { c.config.Judging.BothOrders = true; c.rules["judge-1.swapped"] = forBen() }, ""},
		"a format without a winner": {[]ruling{noOne()}, func(c *court) {
			c.config.Format, c.config.Participants[0].Side, c.config.Participants[1].Side = format.Roundtable, "", ""
		}, "judge-1"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCourt(test.rules...)
			if test.change != nil {
				test.change(c)
			}
			d := view(run(t, c.engine, c.config))
			got := ""
			if d.Verdict != nil {
				got = d.Verdict.Judge
				named := ""
				if d.Verdict.Winner != nil {
					named = d.Verdict.Winner.Participant
				}
				assert.Equal(t, d.Outcome().Winner, named)
			}
			assert.Equal(t, test.verdict, got)
		})
	}
}
