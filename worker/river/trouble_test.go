package river_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
	worker "github.com/agonist-dev/debate/worker/river"
)

// job returns the youngest job of debates, and what its metadata say.
func (b *base) job(t testing.TB) (*rivertype.JobRow, worker.Trouble) {
	t.Helper()
	list, err := b.client(t).JobList(t.Context(), river.NewJobListParams().Kinds(worker.Args{}.Kind()).First(1).
		OrderBy(river.JobListOrderByID, river.SortOrderDesc))
	require.NoError(t, err)
	require.NotEmpty(t, list.Jobs)
	var trouble worker.Trouble
	require.NoError(t, json.Unmarshal(list.Jobs[0].Metadata, &trouble))
	return list.Jobs[0], trouble
}

// kindOf returns the kind of an error of this library.
func kindOf(err error) flow.Kind {
	if e, ok := errors.AsType[*flow.Error](err); ok {
		return e.Kind
	}
	return ""
}

// logOf returns the events of a debate.
func logOf(t testing.TB, b *base, id string) (events []flow.Event) {
	t.Helper()
	for event, err := range b.store.Read(t.Context(), id, 0) {
		require.NoError(t, err)
		events = append(events, event)
	}
	return events
}

// A worker that is stopped lets the calls in flight finish. Another one continues at once, and no call is made twice.
func TestAStopDrains(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		ids := []string{"a", "b", "c", "d", "e"}
		host := p.opened(t, worker.Options{})
		engine := engineOn(host.store, nil)
		for _, id := range ids {
			config := debating(id)
			config.Rounds = 300 // none is over when the worker stops
			submit(t, engine, config)
		}
		calls := newGate(t)
		first := p.opened(t, worker.Options{})
		drains := engineOn(first.store, calls.pass)
		w, err := first.jobs.Worker(drains, worker.Config{River: soon(), Sweep: time.Hour})
		require.NoError(t, err)
		require.NoError(t, w.Start(t.Context()))
		eventually(t, "a call of each is in flight", func() bool { return calls.asked() == len(ids) })
		stopped := make(chan error, 1)
		go func() { stopped <- w.Stop(context.WithoutCancel(t.Context())) }()
		draining(t, drains)
		calls.open()
		require.NoError(t, <-stopped)
		assert.Equal(t, calls.asked(), results(t, host, ids), "the calls have finished")
		assert.Equal(t, len(ids), host.rows(t)["available"])
		before := results(t, host, ids)
		second := p.opened(t, worker.Options{})
		w = working(t, second, engineOn(second.store, calls.pass), worker.Config{})
		eventually(t, "each continues", func() bool { return w.Stats().Opened >= int64(len(ids)) && calls.asked() > before+len(ids) })
		for _, id := range ids {
			require.NoError(t, engine.Control(t.Context(), id, flow.Pause{Drain: true}))
		}
		eventually(t, "all rest", func() bool { return w.Stats().Held == 0 })
		assert.Equal(t, calls.asked(), results(t, host, ids))
		for id, times := range calls.asks {
			assert.Equal(t, 1, times, id)
			assert.True(t, strings.HasSuffix(id, "/1"), "%s is no first attempt", id)
		}
	})
}

// results counts the calls that have a result.
func results(t testing.TB, b *base, ids []string) (n int) {
	t.Helper()
	f := debate.DebateFlow()
	for _, id := range ids {
		log := logOf(t, b, id)
		for i := range log {
			var err error
			log[i], err = f.DecodeEvent(log[i])
			require.NoError(t, err)
		}
		n += len(flows.Results(log))
	}
	return n
}

// draining waits until an engine drains. Such an engine opens nothing more.
func draining(t testing.TB, engine *debate.Engine) {
	t.Helper()
	eventually(t, "the worker drains", func() bool {
		_, err := engine.Open(t.Context(), "nobody")
		return errors.Is(err, flow.ErrClosed)
	})
}

// A worker whose time to stop is over breaks its calls off. Its debates are due for others at once, and each call is charged.
func TestAStopWithoutPatience(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		host := p.opened(t, worker.Options{})
		engine := engineOn(host.store, nil)
		submit(t, engine, debating("a"))
		var begun atomic.Int64
		own := p.opened(t, worker.Options{})
		w, err := own.jobs.Worker(engineOn(own.store, func(ctx context.Context, req *provider.Request) error {
			begun.Add(1)
			return slowly(time.Hour)(ctx, req)
		}), worker.Config{River: soon(), Sweep: time.Hour})
		require.NoError(t, err)
		require.NoError(t, w.Start(t.Context()))
		eventually(t, "a call is in flight", func() bool { return begun.Load() > 0 })
		over, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, w.Stop(over), context.DeadlineExceeded)
		assert.Equal(t, 1, host.rows(t)["available"])
		second := p.opened(t, worker.Options{})
		working(t, second, engineOn(second.store, nil), worker.Config{})
		record := finished(t, engine, "a")
		assert.Equal(t, flow.StateCompleted, record.State)
	})
}

// A worker without the key appends nothing, says what it lacks, and keeps no debate from the worker that has it. Which of the two gets
// a job is chance, and each time that the one without gets it, its debate waits longer, a minute at most.
func TestAWorkerWithoutAKey(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		const debates = 6
		host := p.opened(t, worker.Options{})
		engine := engineOn(host.store, nil)
		without := p.opened(t, worker.Options{})
		lacking := engineOn(without.store, nil)
		lacking.Providers = map[string]debate.Provider{"other": cast(nil)}
		w := working(t, without, lacking, worker.Config{Queues: map[string]int{worker.DefaultQueue: 2}})
		submit(t, engine, debating("a"))
		before := logOf(t, host, "a")
		eventually(t, "it finds that it lacks the provider", func() bool { return w.Stats().Lacking > 0 })
		eventually(t, "the job is in back-off", func() bool { row, _ := host.job(t); return slices.Contains(row.Tags, worker.FailingTag) })
		_, trouble := host.job(t)
		assert.Positive(t, trouble.Failures)
		assert.Contains(t, trouble.Error, `"test"`)
		assert.Equal(t, before, logOf(t, host, "a"), "it appends nothing")
		for i := 1; i < debates; i++ {
			submit(t, engine, debating(string(rune('a'+i))))
		}
		right := p.opened(t, worker.Options{})
		working(t, right, engineOn(right.store, nil), worker.Config{Sweep: time.Second})
		for i := range debates {
			finished(t, engine, string(rune('a'+i)))
		}
		assert.Zero(t, w.Stats().Opened)
		assert.Zero(t, host.rows(t)["discarded"])
	})
}

// A damaged debate goes into back-off, where it is seen, keeps no other from its end, and is never discarded.
func TestADamagedDebate(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		host := p.opened(t, worker.Options{})
		engine := engineOn(host.store, nil)
		submit(t, engine, debating("damaged"))
		_, err := host.db.ExecContext(t.Context(), "UPDATE debate_commit SET body = replace(body, '\"seq\"', '\"sea\"')")
		require.NoError(t, err)
		own := p.opened(t, worker.Options{})
		w := working(t, own, engineOn(own.store, nil), worker.Config{Sweep: time.Second})
		eventually(t, "it was tried", func() bool { return w.Stats().Failed > 0 })
		submit(t, engine, debating("sound"))
		finished(t, engine, "sound")
		_, err = host.db.ExecContext(t.Context(), "UPDATE debate_commit SET body = replace(body, '\"sea\"', '\"seq\"')")
		require.NoError(t, err)
		finished(t, engine, "damaged")
		assert.Zero(t, host.rows(t)["discarded"])
	})
}

// A job of a debate that does not exist is canceled, and says why.
func TestAJobOfNoDebate(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		own := p.opened(t, worker.Options{})
		client := own.client(t)
		_, err := client.Insert(t.Context(), worker.Args{ID: "nobody"}, nil)
		require.NoError(t, err)
		_, err = client.Insert(t.Context(), worker.Args{ID: "../no id"}, nil)
		require.NoError(t, err)
		w := working(t, own, engineOn(own.store, nil), worker.Config{})
		eventually(t, "it was looked for", func() bool { return w.Stats().Missing == 2 && own.rows(t)["cancelled"] == 2 })
		row, _ := own.job(t)
		require.Len(t, row.Errors, 1)
		assert.Contains(t, row.Errors[0].Error, "id: is not")
	})
}

// Tables of an older River, or none, are named before anything is worked.
func TestTablesOfAnotherVersion(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		own := p.opened(t, worker.Options{})
		w, err := own.jobs.Worker(engineOn(own.store, nil), worker.Config{})
		require.NoError(t, err)
		_, err = own.db.ExecContext(t.Context(), "DELETE FROM river_migration WHERE version > 4")
		require.NoError(t, err)
		err = w.Start(t.Context())
		require.ErrorContains(t, err, "Migrate")
		assert.Equal(t, provider.KindStore, kindOf(err))
		_, err = own.db.ExecContext(t.Context(), "ALTER TABLE river_job RENAME TO another")
		require.NoError(t, err)
		engine := engineOn(own.store, nil)
		engine.Lease = 100 * time.Millisecond // for so long it tries again
		_, err = engine.Submit(t.Context(), debating("a"))
		require.ErrorContains(t, err, "the tables of River are missing or of an older version: Migrate brings them up")
		_, err = engine.Record(t.Context(), "a")
		require.ErrorIs(t, err, flow.ErrNotFound, "nothing is stored without a job")
	})
}

// The debates of a worker's engine are in the database of its jobs: a worker that would look for them elsewhere does not start.
func TestAWorkerOnTheStoreOfAnotherDatabase(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		own, other := p.opened(t, worker.Options{}), newSQLite(t).opened(t, worker.Options{})
		for name, elsewhere := range map[string]store.Store{"another file": other.store, "memory": &store.Memory{}} {
			w, err := own.jobs.Worker(engineOn(elsewhere, nil), worker.Config{})
			require.NoError(t, err)
			err = w.Start(t.Context())
			require.ErrorContains(t, err, "engine: its store is not in the database of the jobs", name)
			assert.Equal(t, provider.KindValidation, kindOf(err), name)
			if memory, ok := elsewhere.(*store.Memory); ok {
				require.NoError(t, memory.Lease(t.Context(), w.Name(), "another", time.Second), "no lease is left")
			}
		}
	})
}

// A worker that is not given the time to drain says so in one line, however many debates it works on.
func TestAStopPastItsBound(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		own := p.opened(t, worker.Options{})
		engine := engineOn(own.store, func(ctx context.Context, _ *provider.Request) error {
			<-ctx.Done()
			return ctx.Err()
		})
		w, err := own.jobs.Worker(engine, worker.Config{River: soon(), Sweep: time.Hour})
		require.NoError(t, err)
		require.NoError(t, w.Start(t.Context()))
		for _, id := range []string{"a", "b", "c"} {
			submit(t, engine, debating(id))
		}
		eventually(t, "all are in work", func() bool {
			got, err := w.Figures(t.Context())
			return err == nil && got.Held == 3 && got.Calls == 3
		})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err = w.Stop(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.EqualError(t, err, "river: stop: debate: shutdown: the calls of 3 of 3 open conversations were aborted: context canceled")
	})
}

// What a worker cannot work with is refused when it is made.
func TestConfigsThatAreRefused(t *testing.T) {
	own := newSQLite(t).opened(t, worker.Options{})
	engine := engineOn(own.store, nil)
	for name, wrong := range map[string]func() error{
		"no database": func() error { _, err := worker.New(nil, nil, worker.Options{}); return err },
		"no store":    func() error { _, err := own.jobs.Worker(&debate.Engine{}, worker.Config{}); return err },
		"sweeps without end": func() error {
			_, err := own.jobs.Worker(engine, worker.Config{Sweep: time.Millisecond})
			return err
		},
		"places below zero": func() error { _, err := own.jobs.Worker(engine, worker.Config{Places: -1}); return err },
		"a queue's name": func() error {
			_, err := own.jobs.Worker(engine, worker.Config{Queues: map[string]int{"no such name!": 1}})
			return err
		},
		"a queue in use": func() error {
			_, err := own.jobs.Worker(engine, worker.Config{
				Queues: map[string]int{"a": 1}, River: &river.Config{Queues: map[string]river.QueueConfig{"a": {MaxWorkers: 1}}},
			})
			return err
		},
		"a rescue within a job's time": func() error {
			_, err := own.jobs.Worker(engine, worker.Config{River: &river.Config{RescueStuckJobsAfter: time.Second}})
			return err
		},
	} {
		err := wrong()
		require.Error(t, err, name)
		assert.Equal(t, provider.KindValidation, kindOf(err), name)
		assert.NotContains(t, err.Error(), "\n", name)
	}
}
