package river_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	worker "github.com/agonist-dev/debate/worker/river"
)

// state returns the state of a debate.
func state(t testing.TB, engine *debate.Engine, id string) flow.State {
	t.Helper()
	record, err := engine.Record(t.Context(), id)
	require.NoError(t, err)
	return record.State
}

// A debate that is paused has no job, and the control that resumes it brings one, whichever process gives it.
func TestAPausedDebateHasNoJob(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		host := p.opened(t, worker.Options{})
		control := engineOn(host.store, nil)
		var held atomic.Bool
		held.Store(true)
		own := p.opened(t, worker.Options{})
		w := working(t, own, engineOn(own.store, func(context.Context, *provider.Request) error {
			if held.CompareAndSwap(true, false) {
				assert.NoError(t, control.Control(context.WithoutCancel(t.Context()), "paused", flow.Pause{Drain: true}))
			}
			return nil
		}), worker.Config{})
		submit(t, control, debating("paused"))
		eventually(t, "no job is left", func() bool { // a second one, made while the first ended, may come between
			jobs := host.rows(t)
			return jobs["completed"] > 0 && jobs["running"]+jobs["available"] == 0 && w.Stats().Running == 0
		})
		assert.Equal(t, flow.StatePaused, state(t, control, "paused"))
		require.NoError(t, control.Control(t.Context(), "paused", flow.Resume{}))
		assert.Equal(t, flow.StateCompleted, finished(t, control, "paused").State)
	})
}

// Whoever gives controls while jobs end wakes each debate, though no sweep comes: a job looks at the end of the log
// before it ends.
func TestNoControlIsMissed(t *testing.T) {
	const debates, rounds = 8, 6
	each(t, func(t *testing.T, p place) {
		host := p.opened(t, worker.Options{})
		control := engineOn(host.store, nil)
		own := p.opened(t, worker.Options{})
		w := working(t, own, engineOn(own.store, slowly(25*time.Millisecond)), worker.Config{})
		swept(t, host)
		var all sync.WaitGroup
		for i := range debates {
			config := debating(string(rune('a' + i)))
			config.Rounds = 300
			submit(t, control, config)
			all.Go(func() {
				for range rounds {
					if !assert.NoError(t, control.Control(t.Context(), config.ID, flow.Pause{})) {
						return
					}
					time.Sleep(time.Duration(i) * time.Millisecond) //nolint:forbidigo // the moment at which the job ends is hit by chance
					if !assert.NoError(t, control.Control(t.Context(), config.ID, flow.Resume{})) {
						return
					}
				}
				assert.NoError(t, control.Control(t.Context(), config.ID, flow.Stop{}))
			})
		}
		all.Wait()
		for i := range debates {
			finished(t, control, string(rune('a'+i)))
		}
		assert.Zero(t, w.Stats().Supplied+w.Stats().Rescued, "no sweep helps")
		t.Logf("controls that came while a job ended: %d", w.Stats().Again)
	})
}

// A debate that waits long has a job that is due when the wait is over, and holds no place. A control makes the job due at once.
func TestAFarWaitHoldsNoPlace(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		host := p.opened(t, worker.Options{})
		control := engineOn(host.store, nil)
		own := p.opened(t, worker.Options{})
		var limited atomic.Bool
		limited.Store(true)
		w := working(t, own, engineOn(own.store, func(context.Context, *provider.Request) error {
			if limited.Load() {
				return &provider.Error{Kind: provider.KindRateLimit, RetryAfter: 30 * time.Minute, NotSent: true}
			}
			return nil
		}), worker.Config{})
		config := debating("far")
		config.Patience = 10 * time.Hour
		submit(t, control, config)
		eventually(t, "the debate is released", func() bool { return w.Stats().Far == 1 && host.rows(t)["scheduled"] == 1 })
		for info, err := range control.List(t.Context(), debate.Filter{}) {
			require.NoError(t, err)
			assert.Empty(t, info.Owner, "the lease is released")
		}
		limited.Store(false)
		require.NoError(t, control.Control(t.Context(), "far", flow.Pause{}))
		assert.Equal(t, 1, host.rows(t)["scheduled"], "a pause gives nobody work")
		require.NoError(t, control.Control(t.Context(), "far", flow.Resume{}))
		eventually(t, "the job is due", func() bool { return w.Stats().Opened == 2 })
		require.NoError(t, control.Control(t.Context(), "far", flow.Retry{}))
		finished(t, control, "far")
		eventually(t, "the job has ended", func() bool { return host.rows(t)["scheduled"] == 0 && w.Stats().Running == 0 })
	})
}

// The time of a debate that waits for a person is watched by a job, which is due when it is over and holds no place before.
func TestAPersonIsAwaitedNoLongerThanTheBudget(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		host := p.opened(t, worker.Options{})
		control := engineOn(host.store, nil)
		own := p.opened(t, worker.Options{})
		w := working(t, own, engineOn(own.store, nil), worker.Config{})
		config := debating("asked")
		config.Budget = &debate.Budget{HardTime: 6 * time.Second}
		config.Judging = &debate.Judging{When: debate.AtEnd, Judges: []debate.JudgeConfig{{Name: "Zoe", Person: true}}}
		submit(t, control, config)
		eventually(t, "a person is asked, and a job is due later", func() bool {
			return state(t, control, "asked") == flow.StateAwaitingInput && host.rows(t)["scheduled"] == 1 && w.Stats().Running == 0
		})
		eventually(t, "the time is over", func() bool { return state(t, control, "asked") == flow.StateError })
		record, err := control.Record(t.Context(), "asked")
		require.NoError(t, err)
		assert.Equal(t, provider.KindCostLimit, record.Failure.Kind)
		assert.GreaterOrEqual(t, record.LastAt.Sub(record.StartedAt), 6*time.Second)
		eventually(t, "no job is left", func() bool { return host.rows(t)["scheduled"] == 0 && w.Stats().Running == 0 })
	})
}

// A debate that another process holds is left to it, and taken over when that has released it.
func TestALeaseHeldElsewhere(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		host := p.opened(t, worker.Options{})
		engine := engineOn(host.store, nil)
		submit(t, engine, debating("held"))
		require.NoError(t, host.store.Lease(t.Context(), "held", "somebody else", time.Hour))
		own := p.opened(t, worker.Options{})
		slow := engineOn(own.store, nil)
		slow.Lease = time.Second
		w := working(t, own, slow, worker.Config{Sweep: time.Second})
		eventually(t, "the job is put off", func() bool { return w.Stats().Leased > 1 })
		require.NoError(t, host.store.Release(t.Context(), "held", "somebody else"))
		assert.Equal(t, flow.StateCompleted, finished(t, engine, "held").State)
	})
}
