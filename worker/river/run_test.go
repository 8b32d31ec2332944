package river_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage/flows"
	worker "github.com/agonist-dev/debate/worker/river"
)

// eventually waits until a condition holds, however busy the machine is.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	flows.Until(t, what, is)
}

// working starts a worker for as long as the test runs. Without a Sweep in its config there is one at its start only.
func working(t testing.TB, b *base, engine *debate.Engine, config worker.Config) *worker.Worker {
	t.Helper()
	if config.River == nil {
		config.River = soon()
	}
	if config.Sweep == 0 {
		config.Sweep = time.Hour
	}
	w, err := b.jobs.Worker(engine, config)
	require.NoError(t, err)
	require.NoError(t, w.Start(t.Context()))
	t.Cleanup(func() { assert.NoError(t, w.Stop(context.WithoutCancel(t.Context()))) })
	return w
}

// finished waits until a debate is over, and returns its record.
func finished(t testing.TB, engine *debate.Engine, id string) *flow.Record {
	t.Helper()
	var record *flow.Record
	eventually(t, id+" is over", func() bool {
		var err error
		record, err = engine.Record(t.Context(), id)
		return err == nil && (record.Final() || record.State == flow.StateError)
	})
	require.NotEqual(t, flow.StateError, record.State, "%v", record.Failure)
	return record
}

// A conversation of each flow is submitted with its job, and worked on to its end.
func TestAJobPerConversation(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		host := p.opened(t, worker.Options{})
		engine := engineOn(host.store, nil)
		configs := map[string]flow.Config{"a": debating("a"), "b": deliberating("b"), "c": arbitrating("c")}
		for _, config := range configs {
			submit(t, engine, config)
		}
		assert.Equal(t, map[string]int{"available": 3}, host.rows(t))
		own := p.opened(t, worker.Options{})
		w := working(t, own, engineOn(own.store, nil), worker.Config{})
		for id := range configs {
			assert.Equal(t, flow.StateCompleted, finished(t, engine, id).State, id)
		}
		// A sweep that looked while a debate ended may have given it one more.
		eventually(t, "the jobs are done", func() bool {
			jobs := host.rows(t)
			return len(jobs) == 1 && int64(jobs["completed"]) == 3+w.Stats().Supplied
		})
		assert.Equal(t, 3+w.Stats().Supplied, w.Stats().Opened)
	})
}

// A debate that another process has begun is found by the sweep, and worked on to its end.
func TestASweepFindsADebateWithoutAJob(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		own := p.opened(t, worker.Options{})
		submit(t, engineOn(own.store, nil), debating("left"))
		_, err := own.db.ExecContext(t.Context(), "DELETE FROM river_job")
		require.NoError(t, err)
		w := working(t, own, engineOn(own.store, nil), worker.Config{Sweep: time.Second})
		assert.Equal(t, flow.StateCompleted, finished(t, engineOn(own.store, nil), "left").State)
		eventually(t, "sweeps have given it each of its jobs", func() bool {
			jobs, supplied := own.rows(t), w.Stats().Supplied
			return supplied > 0 && len(jobs) == 1 && int64(jobs["completed"]) == supplied
		})
	})
}
