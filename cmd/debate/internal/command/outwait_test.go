package command_test

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/cmd/debate/internal/demo"
	"github.com/agonist-dev/debate/store/file"
)

// A process that was killed holds its conversation for a while. debate resume waits for that time, which is no mistake of who
// resumes.
func TestAConversationOfAKilledProcessIsResumed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		place := filepath.Join(t.TempDir(), "kept") + "/"
		kept, err := file.Open(place)
		require.NoError(t, err)
		defer func() { require.NoError(t, kept.Close()) }()
		left := unfinishedIn(t, kept)
		require.NoError(t, kept.Lease(t.Context(), left, "killed", 15*time.Second))
		got := run(t, place, "resume", left)
		assert.NotContains(t, got.err, "debate watch")
		assert.Contains(t, got.err, "Another process has "+left+". If it was killed, that ends within 16s.")
		assert.Zero(t, got.code, got.err)
	})
}

// unfinishedIn starts a conversation in a store, and closes it at once.
func unfinishedIn(t *testing.T, kept debate.Store) string {
	t.Helper()
	config, _ := work(t)
	config.ID = "left"
	engine := &debate.Engine{Store: kept, Flows: map[string]*debate.Flow{arbiter.FlowName: arbiter.Flow()}}
	demo.Play(engine)
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	require.NoError(t, session.Close())
	return session.ID()
}
