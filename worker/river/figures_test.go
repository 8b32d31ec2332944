package river_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	figures "github.com/agonist-dev/debate/worker"
	worker "github.com/agonist-dev/debate/worker/river"
)

// A worker with one place shows the debate that it holds, its call and the one behind it, and what it leaves to others when it is stopped.
func TestFigures(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		host := p.opened(t, worker.Options{})
		engine := engineOn(host.store, nil)
		for _, id := range []string{"a", "b"} {
			submit(t, engine, debating(id))
		}
		queue, err := host.jobs.Queue(t.Context())
		require.NoError(t, err)
		assert.Equal(t, int64(2), queue.Waiting)
		assert.Less(t, queue.Oldest, 30*time.Minute, "the clocks of some time zones are half an hour apart")
		gate := make(chan struct{})
		open := sync.OnceFunc(func() { close(gate) })
		t.Cleanup(open)
		own := p.opened(t, worker.Options{})
		drains := engineOn(own.store, func(context.Context, *provider.Request) error {
			<-gate
			return nil
		})
		w, err := own.jobs.Worker(drains, worker.Config{
			River: soon(), Sweep: time.Hour, Queues: map[string]int{worker.DefaultQueue: 2, "other": 2}, Places: 1,
		})
		require.NoError(t, err)
		require.NoError(t, w.Start(t.Context()))
		var got figures.Figures
		read := func() figures.Figures {
			got, err = w.Figures(t.Context())
			require.NoError(t, err)
			got.Queue.Oldest = 0
			return got
		}
		want := figures.Figures{Running: 1, Held: 1, Calls: 1, Opened: 1, Queue: figures.Queue{Waiting: 1, Running: 1}}
		eventually(t, "a call is in flight", func() bool { return read() == want })
		stopped := make(chan error, 1)
		go func() { stopped <- w.Stop(context.WithoutCancel(t.Context())) }()
		draining(t, drains)
		open()
		require.NoError(t, <-stopped)
		drained := read().Drained
		assert.Positive(t, drained, "more than one, as long as River's client does not know that it stops")
		assert.Equal(t, figures.Figures{Opened: 1, Drained: drained, Queue: figures.Queue{Waiting: 2}}, got)
	})
}

// The queue of tables that are missing cannot be read. All else can.
func TestFiguresWithoutAQueue(t *testing.T) {
	own := newSQLite(t).opened(t, worker.Options{})
	w, err := own.jobs.Worker(engineOn(own.store, nil), worker.Config{})
	require.NoError(t, err)
	_, err = own.db.ExecContext(t.Context(), "DROP TABLE river_job")
	require.NoError(t, err)
	_, err = w.Figures(t.Context())
	require.ErrorContains(t, err, "the length of the queue")
	assert.Equal(t, provider.KindStore, kindOf(err))
}
