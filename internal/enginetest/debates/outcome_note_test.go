package debates_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
)

// If the winner is not the one with the highest score, or not as far ahead as judges are told, the outcome says so, and a decision for
// nobody is no tie.
func TestAWinnerAgainstTheScoresIsNoted(t *testing.T) {
	const level = "Ada has won, although the best two scores are less than 3 apart"
	for name, test := range map[string]struct {
		rules  []stage.Ruling
		winner string
		tie    bool
		notes  []string
	}{
		"the higher score":       {[]stage.Ruling{stage.ForAda()}, "Ada", false, nil},
		"the lower score":        {[]stage.Ruling{stage.Scored("Ada", 60, 61)}, "Ada", false, []string{"Ada has won with a lower score than Ben: 60 against 61"}},
		"the same score":         {[]stage.Ruling{stage.Scored("Ada", 60, 60)}, "Ada", false, []string{level}},
		"a little higher score":  {[]stage.Ruling{stage.Scored("Ada", 80, 77.5)}, "Ada", false, []string{level}},
		"just high enough":       {[]stage.Ruling{stage.Scored("Ada", 80, 77)}, "Ada", false, nil},
		"level by the means":     {[]stage.Ruling{stage.Scored("Ada", 80, 76), stage.Scored("Ada", 80, 76), stage.Scored("Ben", 60, 66)}, "Ada", false, nil},
		"nobody, level":          {[]stage.Ruling{stage.ForNobody()}, "", true, nil},
		"nobody, far from level": {[]stage.Ruling{stage.Scored("", 90, 10)}, "", false, []string{"nobody has won, although Ada has the highest score: 90"}},
		"nobody, by all": {
			[]stage.Ruling{stage.Scored("", 90, 10), stage.Scored("", 80, 20)}, "", false, []string{"nobody has won, although Ada has the highest score: 85"},
		},
		"nobody, by one": {[]stage.Ruling{stage.Scored("", 90, 10), stage.ForAda()}, "", true, nil},
		"no majority":    {[]stage.Ruling{stage.ForAda(), stage.ForBen()}, "", true, nil},
		"the lower of two": {
			[]stage.Ruling{stage.Scored("Ada", 60, 61), stage.Scored("Ada", 60, 62), stage.Scored("Ben", 10, 92)},
			"Ada", false,
			[]string{"Ada has won with a lower score than Ben: 43.33 against 71.67"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := stage.NewCourt(test.rules...)
			outcome := stage.View(stage.Run(t, c.Engine, c.Config)).Outcome()
			assert.Equal(t, test.winner, outcome.Winner)
			assert.Equal(t, test.tie, outcome.Tie)
			assert.Equal(t, test.notes, outcome.Notes)
		})
	}
}

// Means have no more than two decimals.
func TestMeansOfScoresAreRounded(t *testing.T) {
	c := stage.NewCourt(stage.Scored("Ada", 4, 3), stage.Scored("Ada", 4, 3), stage.Scored("Ada", 3, 2))
	assert.Equal(t, map[string]float64{"Ada": 3.67, "Ben": 2.67}, stage.View(stage.Run(t, c.Engine, c.Config)).Outcome().Scores)
}

// The verdict of a record never names somebody other than its outcome.
func TestTheVerdictAgreesWithTheOutcome(t *testing.T) {
	for name, test := range map[string]struct {
		rules   []stage.Ruling
		change  func(*stage.Court)
		verdict string // whose; "": none
	}{
		"one judge":                    {[]stage.Ruling{stage.ForAda()}, nil, "judge-1"},
		"one judge, for nobody":        {[]stage.Ruling{stage.ForNobody()}, nil, "judge-1"},
		"the first for the winner":     {[]stage.Ruling{stage.ForBen(), stage.ForAda(), stage.ForAda()}, nil, "judge-2"},
		"no majority":                  {[]stage.Ruling{stage.ForAda(), stage.ForBen()}, nil, ""},
		"no majority, one for nobody":  {[]stage.Ruling{stage.ForAda(), stage.ForBen(), stage.ForNobody()}, nil, "judge-3"},
		"another winner by the points": {[]stage.Ruling{stage.Scored("Ben", 80, 60)}, func(c *stage.Court) { c.Config.Judging.Protocol = debate.Borda }, ""},
		"other winners in both orders": {[]stage.Ruling{stage.ForAda()}, func(c *stage.Court) { c.Config.Judging.BothOrders = true; c.Rules["judge-1.swapped"] = stage.ForBen() }, ""},
		"a format without a winner": {[]stage.Ruling{stage.ForNobody()}, func(c *stage.Court) {
			c.Config.Format, c.Config.Participants[0].Side, c.Config.Participants[1].Side = format.Roundtable, "", ""
		}, "judge-1"},
	} {
		t.Run(name, func(t *testing.T) {
			c := stage.NewCourt(test.rules...)
			if test.change != nil {
				test.change(c)
			}
			d := stage.View(stage.Run(t, c.Engine, c.Config))
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
