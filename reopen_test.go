package debate_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
)

// A debate goes on after its verdict, twice. Those who speak read the verdict, and each verdict stands in the record.
func TestADebateGoesOnAfterItsVerdict(t *testing.T) {
	config := stage.TwoDebaters()
	config.Audience = &debate.Audience{Members: []debate.Member{{Name: "Mo", Judge: "mo"}}}
	engine, p := stage.Engine(config)
	engine.Judges = map[string]debate.Judge{
		"mo": debate.JudgeFunc(func(context.Context, debate.JudgeTask) (json.RawMessage, error) {
			return json.RawMessage(`{"reasoning":"So it seems.","vote":"for"}`), nil
		}),
	}
	original := stage.Run(t, engine, config)
	before := stage.JSON(original)
	id := original.ID
	for i := 1; i <= 2; i++ {
		session, err := engine.Reopen(t.Context(), id, flow.Reopening{Rounds: 2, Person: "pat"})
		require.NoError(t, err)
		record := stage.Ended(t, session)
		require.NoError(t, session.Close())
		id = record.ID
		d := stage.View(record)
		assert.Equal(t, flow.StateCompleted, d.State)
		assert.Equal(t, 3+2*i, d.Round)
		assert.Len(t, d.Turns, 6+4*i)
		require.Len(t, d.Earlier, i)
		assert.Equal(t, 3+2*(i-1), d.Earlier[i-1].Round)
		require.Len(t, d.Earlier[i-1].Verdicts, 1)
		assert.NotEmpty(t, d.Earlier[i-1].Winner)
		assert.Len(t, d.Earlier[i-1].Ballots, 1)
		assert.Len(t, d.Ballots, 2, "before and after")
		require.Len(t, d.Verdicts, 1, "and another one")
		assert.Equal(t, d.Verdict, d.Verdicts[0])
		assert.Contains(t, d.Verdict.Call, "again")
		require.Len(t, d.Notes, i)
		assert.Contains(t, d.Notes[i-1].Text, d.Earlier[i-1].Winner)
		var shown struct {
			Earlier []struct {
				Winner   string            `json:"winner"`
				Verdicts []json.RawMessage `json:"verdicts"`
			} `json:"earlier"`
			Verdicts []json.RawMessage `json:"verdicts"`
		}
		require.NoError(t, json.Unmarshal([]byte(stage.JSON(d)), &shown))
		assert.Len(t, shown.Earlier, i)
		assert.Len(t, shown.Verdicts, 1)
		last := p.Requests()[len(p.Requests())-1]
		assert.Contains(t, stage.JSON(last.Messages), "The earlier verdict")
	}
	assert.Equal(t, before, stage.JSON(stage.StoredRecord(t, engine, original.ID)), "the original stays as it is")
}

// What cannot go on says why.
func TestWhatIsNotReopened(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	over := stage.Run(t, engine, config)
	for field, o := range map[string]flow.Reopening{"rounds": {}, "ask": {Ask: "Why?", To: "Ada"}} {
		_, err := engine.Reopen(t.Context(), over.ID, o)
		stage.Refused(t, err, field)
	}
	_, err := engine.Reopen(t.Context(), over.ID, flow.Reopening{Rounds: -1})
	stage.Refused(t, err, "rounds")

	config = stage.TwoDebaters()
	config.Format, config.Rounds = format.LincolnDouglas, 0
	engine, _ = stage.Engine(config)
	over = stage.Run(t, engine, config)
	_, err = engine.Reopen(t.Context(), over.ID, flow.Reopening{Rounds: 1})
	stage.Refused(t, err, "rounds")
	require.ErrorContains(t, err, format.LincolnDouglas)
}
