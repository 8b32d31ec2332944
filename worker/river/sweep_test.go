package river_test

import (
	"testing"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	worker "github.com/agonist-dev/debate/worker/river"
)

// sweepArgs are those of the sweeps that workers ask for.
type sweepArgs struct{}

func (sweepArgs) Kind() string { return "debate_sweep" }

// Sweeps that have piled up while their queue was paused are made once, not one after the other.
func TestSweepsThatPiledUpAreOne(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		host := p.opened(t, worker.Options{})
		for range 30 {
			_, err := host.client(t).Insert(t.Context(), sweepArgs{}, &river.InsertOpts{Queue: "debate_sweep"})
			require.NoError(t, err)
		}
		count := func(state string) (n int) {
			query := "SELECT count(*) FROM river_job WHERE kind = 'debate_sweep' AND state = '" + state + "'"
			require.NoError(t, host.db.QueryRowContext(t.Context(), query).Scan(&n))
			return n
		}
		require.Equal(t, 30, count("available"))
		own := p.opened(t, worker.Options{})
		w := working(t, own, engineOn(own.store, nil), worker.Config{})
		eventually(t, "no sweep waits", func() bool { return count("available")+count("running") == 0 && count("completed") > 0 })
		assert.LessOrEqual(t, w.Stats().Sweeps, int64(2), "an old one, and the one that the worker asked for")
	})
}
