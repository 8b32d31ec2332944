package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
)

// TestStatsTellCallsFromThoseThatQueue: of two debates with one slot, one speaks and the other one waits.
func TestStatsTellCallsFromThoseThatQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		engine.MaxCalls = 1
		for _, id := range []string{"one", "other"} {
			config.ID = id
			_, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
		}
		stage.Pass(500 * time.Millisecond)
		assert.Equal(t, debate.Stats{Calls: 1, Queued: 1, Open: 2}, engine.Stats())
		require.NoError(t, engine.Shutdown(t.Context()))
		assert.Equal(t, debate.Stats{Drained: 2}, engine.Stats())
	})
}

// TestStatsCountWhatIsOpened: by sessions and by runtimes, and what becomes of it.
func TestStatsCountWhatIsOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &stage.Spoilt{Memory: &store.Memory{}, ID: "c"}
		engine, p := stage.Engine(stage.TwoDebaters())
		stage.Slowly(p)
		engine.Store = kept
		for _, id := range []string{"a", "b", "c"} {
			stage.Submitted(t, engine, id)
		}
		other := stage.Twin(engine)
		assert.Zero(t, engine.Stats())
		session := stage.Reopen(t, engine, "a")
		stage.Reopen(t, engine, "a") // it is open already
		_, err := other.Open(t.Context(), "a")
		require.ErrorIs(t, err, debate.ErrLeased)
		next, err := engine.Advance(t.Context(), "b", "runtime", flow.Opened{})
		require.NoError(t, err)
		_, err = other.Advance(t.Context(), "b", "another", flow.Opened{})
		require.ErrorIs(t, err, debate.ErrLeased)
		kept.Damaged.Store(true)
		_, err = engine.Open(t.Context(), "c")
		require.Error(t, err)
		synctest.Wait()
		assert.Equal(t, debate.Stats{Calls: 1, Open: 2, Opened: 2, Refused: 1}, engine.Stats())
		assert.Equal(t, debate.Stats{Leased: 2}, other.Stats())
		for len(next.Calls) > 0 {
			next, err = engine.Call(t.Context(), "b", "runtime", next.Calls[0], nil)
			require.NoError(t, err)
		}
		require.True(t, next.Over)
		stage.Ended(t, session)
		assert.Equal(t, debate.Stats{Opened: 2, Rested: 1, Refused: 1}, engine.Stats(), "both are over, and one was advanced to its end")
		require.NoError(t, session.Close())
	})
}
