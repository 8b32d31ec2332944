package debates_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/vote"
)

// teams is a court before which two teams of three contend.
func teams(rules ...stage.Ruling) *stage.Court {
	c := stage.NewCourt(rules...)
	c.Config.Format, c.Config.Rounds = format.KarlPopper, 0
	c.Config.Participants = stage.Actors("Ada for", "Dia against", "Ben for", "Eve against", "Cem for", "Fay against")
	return c
}

// forTeam and againstTeam are rulings for a team: the mean of one is 80, that of the other 60.
func forTeam() stage.Ruling {
	return stage.Ruling{Winner: "for", Scores: map[string]float64{"Ada": 90, "Ben": 80, "Cem": 70, "Dia": 85, "Eve": 50, "Fay": 45}}
}

func againstTeam() stage.Ruling {
	return stage.Ruling{Winner: "against", Scores: map[string]float64{"Ada": 85, "Ben": 50, "Cem": 45, "Dia": 90, "Eve": 80, "Fay": 70}}
}

// TestATeamWins: in a contest of teams, verdicts name a side, and all that counts them counts sides.
func TestATeamWins(t *testing.T) {
	t.Parallel()
	t.Run("all judges are for it", func(t *testing.T) {
		c := teams(forTeam(), forTeam(), forTeam())
		c.Engine.Store = &store.Memory{}
		d := stage.View(stage.Run(t, c.Engine, c.Config))
		assert.True(t, d.BySides())
		assert.Equal(t, "for", d.PartyOf(&d.Verdict.FinalVerdict))
		o := d.Outcome()
		assert.Equal(t, debate.For, o.Side)
		assert.Empty(t, o.Winner, "no participant has won alone")
		assert.False(t, o.Tie)
		assert.Equal(t, []vote.Count{{Name: "for", Votes: 3}}, o.Votes)
		assert.Empty(t, o.Dissent)
		assert.Empty(t, o.Notes, "Dia has the second highest score, but her team not the higher mean")
		assert.Len(t, o.Scores, 6, "scores stay by participant")
		for info, err := range c.Engine.List(t.Context(), debate.Filter{}) {
			require.NoError(t, err)
			assert.Equal(t, "for", info.Result)
		}
		for _, req := range c.RequestsTo("judge") {
			assert.ElementsMatch(t, []string{"for", "against"}, stage.SidesIn(req.Schema.JSON))
			assert.Contains(t, req.Last.Text, `"side": "for" or "against": the team, not a person`)
			assert.NotContains(t, req.Last.Text, "Only who has stayed")
		}
	})
	t.Run("one is outvoted", func(t *testing.T) {
		c := teams(forTeam(), againstTeam(), forTeam())
		o := stage.View(stage.Run(t, c.Engine, c.Config)).Outcome()
		assert.Equal(t, debate.For, o.Side)
		assert.Equal(t, []debate.Dissent{{Judge: "judge-2", Winner: "against", Reasoning: "Because word of judge-2"}}, o.Dissent)
	})
	t.Run("in both orders", func(t *testing.T) {
		for other, tie := range map[string]bool{"for": false, "against": true} {
			c := teams(forTeam())
			c.Config.Judging.BothOrders = true
			c.Rules["judge-1.swapped"] = map[string]stage.Ruling{"for": forTeam(), "against": againstTeam()}[other]
			o := stage.View(stage.Run(t, c.Engine, c.Config)).Outcome()
			assert.Equal(t, tie, o.Tie, other)
			assert.Equal(t, !tie, o.Side == debate.For, other)
		}
	})
	t.Run("by ranks", func(t *testing.T) {
		c := teams(forTeam(), againstTeam(), forTeam())
		c.Config.Judging.Protocol = debate.Borda
		o := stage.View(stage.Run(t, c.Engine, c.Config)).Outcome()
		assert.Equal(t, debate.For, o.Side)
		assert.Equal(t, []vote.Count{{Name: "for", Votes: 4}, {Name: "against", Votes: 2}}, o.Votes, "two points of Borda's count for each judge")
	})
	t.Run("against the means", func(t *testing.T) {
		wrong := forTeam()
		wrong.Winner = "against"
		c := teams(wrong)
		o := stage.View(stage.Run(t, c.Engine, c.Config)).Outcome()
		assert.Equal(t, debate.Against, o.Side)
		assert.Equal(t, []string{"the side against has won with a lower mean score than the side for: 60 against 80"}, o.Notes)
	})
	t.Run("nobody, although one is ahead", func(t *testing.T) {
		nobody := forTeam()
		nobody.Winner = ""
		c := teams(nobody)
		o := stage.View(stage.Run(t, c.Engine, c.Config)).Outcome()
		assert.False(t, o.Tie)
		assert.Equal(t, []string{"nobody has won, although the side for has the highest mean score: 80"}, o.Notes)
	})
}

// TestAPersonOfATeamDoesNotWin: a judge who names a participant is asked again, and told what to name.
func TestAPersonOfATeamDoesNotWin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := teams()
		c.Config.Judging.Judges = []debate.JudgeConfig{{Name: "Cato", Judge: "cato"}}
		ruling, asked := forTeam(), 0
		c.Engine.Judges = map[string]debate.Judge{"cato": debate.JudgeFunc(func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
			assert.Len(t, task.Judged, 6)
			if asked++; asked > 1 {
				return json.RawMessage(ruling.Answer(task.Schema, "x")), nil
			}
			one := ruling
			one.Winner = "Ada"
			return json.RawMessage(one.Verdict("x")), nil
		})}
		record := stage.Run(t, c.Engine, c.Config)
		require.Len(t, record.Rejections, 1)
		assert.Equal(t, []string{`winner: a side wins this debate, not a participant: name it as "side"`}, record.Rejections[0].Problems)
		assert.Equal(t, debate.For, stage.View(record).Outcome().Side)
	})
}

// TestSidesWinByTheCast: sides win where one of them has several contestants, in any format, and where each has one they do not.
func TestSidesWinByTheCast(t *testing.T) {
	for cast, sides := range map[string]bool{
		"Ada for,Ben against":                           false,
		"Ada for,Ben against,Cem for":                   true,
		"Ada for,Ben against,Cem for,Dia against":       true,
		"Ada for,Ben against,Cem":                       false,
		"Ada for,Ben for":                               false,
		"Ada for,Ben against,Cem neutral":               false,
		"Ada for,Ben against,Cem neutral,Dia neutral":   true,
		"Ada,Ben,Cem":                                   false,
		"Ada for,Ben against,Cem against,Dia for,Eve x": false,
	} {
		config := debate.Config{Topic: "Is it so?", Rounds: 1, Participants: stage.Actors(strings.Split(cast, ",")...)}
		config.Judging = &debate.Judging{When: debate.AtEnd, Judges: []debate.JudgeConfig{{Model: "test/judge"}}}
		if strings.HasSuffix(cast, " x") { // who has no side
			config.Participants[4].Side = ""
		}
		engine, _ := stage.Ready(config)
		assert.Equal(t, sides, stage.View(stage.Run(t, engine, config)).BySides(), cast)
	}
}
