package river_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
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

// working starts a worker for as long as the test runs.
func working(t testing.TB, b *base, engine *debate.Engine, config worker.Config) *worker.Worker[pgx.Tx] {
	t.Helper()
	if config.River == nil {
		config.River = soon()
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

// state returns the state of a debate.
func state(t testing.TB, engine *debate.Engine, id string) flow.State {
	t.Helper()
	record, err := engine.Record(t.Context(), id)
	require.NoError(t, err)
	return record.State
}

// kindOf returns the kind of an error of this library.
func kindOf(err error) flow.Kind {
	if e, ok := errors.AsType[*flow.Error](err); ok {
		return e.Kind
	}
	return ""
}

// A host program reads each session of a worker to its end, and Stop waits for it.
func TestReadersOfSessions(t *testing.T) {
	p := newPlace(t)
	host, own := p.opened(t, worker.Options{}), p.opened(t, worker.Options{})
	var read []string
	var reading sync.Mutex
	w, err := own.jobs.Worker(engineOn(own.store, nil), worker.Config{River: soon(), With: func(ctx context.Context, s *debate.Session) {
		for event, err := range s.Events(ctx, 0) {
			if err != nil {
				return
			}
			if to, ok := event.Body.(*flow.Transition); ok && to.To == flow.StateCompleted {
				reading.Lock()
				read = append(read, s.ID())
				reading.Unlock()
			}
		}
	}})
	require.NoError(t, err)
	require.NoError(t, w.Start(t.Context()))
	engine := engineOn(host.store, nil)
	for _, id := range []string{"a", "b"} {
		submit(t, engine, debating(id))
		finished(t, engine, id)
	}
	require.NoError(t, w.Stop(context.WithoutCancel(t.Context())))
	assert.ElementsMatch(t, []string{"a", "b"}, read)
}

// A conversation of each flow is submitted with its job, and worked on to its end.
func TestAJobPerConversation(t *testing.T) {
	p := newPlace(t)
	host := p.opened(t, worker.Options{})
	engine := engineOn(host.store, nil)
	configs := map[string]flow.Config{"a": debating("a"), "b": deliberating("b"), "c": arbitrating("c")}
	for _, config := range configs {
		submit(t, engine, config)
	}
	assert.Equal(t, map[string]int{"available": 3}, host.rows(t))
	own := p.opened(t, worker.Options{})
	working(t, own, engineOn(own.store, nil), worker.Config{})
	for id := range configs {
		assert.Equal(t, flow.StateCompleted, finished(t, engine, id).State, id)
	}
	eventually(t, "the jobs are completed", func() bool { return host.rows(t)["completed"] == 3 })
	assert.Equal(t, map[string]int{"completed": 3}, host.rows(t))
}
