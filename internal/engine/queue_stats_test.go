package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/stage"
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
