package debate_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
)

// TestStatsTellCallsFromThoseThatQueue: of two debates with one slot, one speaks and the other one waits.
func TestStatsTellCallsFromThoseThatQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := twoDebaters()
		engine, p := engineFor(config)
		slowly(p)
		engine.MaxCalls = 1
		for _, id := range []string{"one", "other"} {
			config.ID = id
			_, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
		}
		pass(500 * time.Millisecond)
		assert.Equal(t, debate.Stats{Calls: 1, Queued: 1}, engine.Stats())
		require.NoError(t, engine.Shutdown(t.Context()))
		assert.Zero(t, engine.Stats())
	})
}
