package command_test

import (
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store/file"
)

// TestAnAnswerLeavesTheConversationToWhoWaitsForIt: a process that waits for the answer has no lease meanwhile, and continues all the same.
func TestAnAnswerLeavesTheConversationToWhoWaitsForIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		place := filepath.Join(t.TempDir(), "kept") + "/"
		kept, err := file.Open(place)
		require.NoError(t, err)
		engine := &debate.Engine{
			Store: kept, Models: map[string]debate.Model{"demo/script": {Window: 1_000_000, Priced: true}},
			Providers: map[string]debate.Provider{"demo": &scripted.Provider{Reply: benThinks}},
		}
		session, err := engine.Start(t.Context(), debate.Config{
			ID: "tabs", Topic: "Tabs", Rounds: 1,
			Participants: []debate.Participant{{Name: "Ada", Person: true}, {Name: "Ben", Model: "demo/script"}},
		})
		require.NoError(t, err)
		record, _ := session.WaitIdle(t.Context()) // the state says why
		require.Equal(t, flow.StateAwaitingInput, record.State)
		got := run(t, place, "answer", "tabs", "Yes.")
		assert.Zero(t, got.code, got.err)
		assert.Contains(t, got.err, "another process has it, and continues it")
		require.NoError(t, session.Close())
		require.NoError(t, kept.Close())
	})
}
