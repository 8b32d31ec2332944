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

// TestAConversationOfAnotherProcess: resume refuses it while that process has it, and continues it at once when the process is gone.
func TestAConversationOfAnotherProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		place := filepath.Join(t.TempDir(), "kept") + "/"
		kept, err := file.Open(place)
		require.NoError(t, err)
		left := unfinishedIn(t, kept)
		require.NoError(t, kept.Lease(t.Context(), left, "another", time.Hour))
		began := time.Now()
		got := run(t, place, "resume", left)
		assert.Equal(t, 1, got.code)
		assert.Contains(t, got.err, "another process runs left: debate watch left follows it")
		assert.Less(t, time.Since(began), time.Second, "it waits for nothing")
		require.NoError(t, kept.Close()) // as the end of the process does
		got = run(t, place, "resume", left)
		assert.Zero(t, got.code, got.err)
		assert.Less(t, time.Since(began), time.Minute, "the lease would last for an hour")
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
