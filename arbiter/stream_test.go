package arbiter_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// What an agent reports streams as text, although it answers in JSON.
func TestOutputStreamsAsText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		result := toJSON(arbiter.Result{Success: true, Output: "I have written \"Max\".\nIt returns the larger of two numbers."})
		engine, _ := engineFor(answers{
			"r1.Ada": func(*provider.Request) scripted.Reply {
				return scripted.Reply{Text: result, ChunkSize: 3, Interval: time.Second}
			},
			"d2": completes("Done."),
		})
		text, pieces := "", 0
		for event, err := range engine.Run(t.Context(), config()) {
			require.NoError(t, err)
			if c, ok := event.Body.(*flow.Chunk); ok && c.Schema == "" {
				assert.Equal(t, "r1.Ada", c.Call)
				text, pieces = text[:c.Offset]+c.Text, pieces+c.Parts
			}
			if turn, ok := event.Body.(*flow.Turn); ok {
				assert.Equal(t, turn.Text, text)
				assert.JSONEq(t, result, string(turn.Data))
			}
		}
		assert.Equal(t, "I have written \"Max\".\nIt returns the larger of two numbers.", text)
		assert.Greater(t, pieces, 10)
	})
}

// A reader that comes after the turn gets the same text.
func TestALateReaderGetsTheOutputAsText(t *testing.T) {
	engine, _ := engineFor(answers{"d2": completes("Done.")})
	session, err := engine.Start(t.Context(), config())
	require.NoError(t, err)
	defer session.Close()
	_, err = session.Wait(t.Context())
	require.NoError(t, err)
	text := ""
	for event, err := range session.Events(t.Context(), 0) {
		require.NoError(t, err)
		if c, ok := event.Body.(*flow.Chunk); ok {
			text += c.Text
		}
	}
	assert.Equal(t, "What r1.Ada has done.", text)
}
