package river_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	worker "github.com/agonist-dev/debate/worker/river"
)

// patience bounds whatever a test waits for, and is far more than it takes.
const patience = time.Minute

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	require.Eventually(t, is, patience, 20*time.Millisecond, what)
}

// working starts a worker for as long as the test runs.
func working(t testing.TB, b *base, engine *debate.Engine, config worker.Config) *worker.Worker {
	t.Helper()
	if config.River == nil {
		config.River = soon()
	}
	if config.Sweep == 0 {
		config.Sweep = time.Second
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
		return err == nil && record.Final()
	})
	return record
}

// A debate that another process has begun is found by the sweep, and worked on to its end.
func TestASweepFindsADebateWithoutAJob(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		config := stage.TwoDebaters()
		config.ID = "left"
		host, _ := stage.Engine(config)
		b := p.opened(t, worker.Options{})
		host.Store = b.store
		s, err := host.Start(t.Context(), config)
		require.NoError(t, err)
		require.NoError(t, s.Close())
		own := p.opened(t, worker.Options{})
		engine, _ := stage.Engine(config)
		engine.Store = own.store
		w := working(t, own, engine, worker.Config{})
		record := finished(t, host, "left")
		assert.Equal(t, flow.StateCompleted, record.State)
		eventually(t, "the job is done", func() bool { return b.rows(t)["running"] == 0 })
		t.Log(w.Stats(), b.rows(t))
	})
}
