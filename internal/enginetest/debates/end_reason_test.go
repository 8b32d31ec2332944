package debates_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
)

// TestAPersonsWishToEndHasItsReason: a person gives one reason for all, which is the evidence of the end.
func TestAPersonsWishToEndHasItsReason(t *testing.T) {
	config := stage.TwoDebaters()
	config.Format, config.Rounds = format.FreeForm, 4
	config.Judging.Judges = []debate.JudgeConfig{{Name: "Zoe", Person: true}}
	engine, _ := stage.Engine(config)
	session := stage.Started(t, engine, config)
	record := stage.AwaitsInput(t, session)
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Text: stage.JSON(debate.PersonJudgement{
		Reasoning: "Both repeat themselves.", Scores: map[string]float64{"Ada": 7, "Ben": 6}, QualityScore: 6,
	})}))
	record, err := session.Wait(t.Context())
	require.ErrorIs(t, err, debate.ErrAwaitingInput, "for the verdict")
	assert.Equal(t, debate.EndJudge, record.Reason)
	assert.Equal(t, "Zoe wishes to end after round 1: Both repeat themselves.", record.Evidence)
}

// TestAPanelEndsWithTheReasonOfAJudgeWhoAgrees, the first one in the order of the config.
func TestAPanelEndsWithTheReasonOfAJudgeWhoAgrees(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Format, config.Rounds = format.ConvergenceSeeker, 4
		config.Judging.Judges = []debate.JudgeConfig{{Name: "Una", Model: "test/judge"}, {Name: "Vic", Model: "test/judge"}, {Name: "Wim", Model: "test/judge"}}
		engine, p := stage.Engine(config)
		play{judges: func(who string, round int, j *debate.Judgement) {
			j.Ending = who + " says that it is settled."
			j.Flags.ConvergenceReached = round == 2 && who != "Una"
		}}.on(p, "Ada", "Ben")
		record := stage.Run(t, engine, config)
		assert.Equal(t, flow.EndConverged, record.Reason)
		assert.True(t, strings.HasSuffix(record.Evidence, ": Vic says that it is settled."), record.Evidence)
	})
}
