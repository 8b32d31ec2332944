package river_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/provider"
	worker "github.com/agonist-dev/debate/worker/river"
)

// A worker that is stopped lets the calls in flight finish. Another one continues at once, and no call is made twice.
func TestAStopDrains(t *testing.T) {
	p := newPlace(t)
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
	w, err := first.jobs.Worker(drains, worker.Config{River: soon()})
	require.NoError(t, err)
	require.NoError(t, w.Start(t.Context()))
	eventually(t, "a call of each is in flight", func() bool { return calls.asked() == len(ids) })
	stopped := make(chan error, 1)
	go func() { stopped <- w.Stop(context.WithoutCancel(t.Context())) }()
	draining(t, drains)
	calls.open()
	require.NoError(t, <-stopped)
	assert.Equal(t, calls.asked(), results(t, host, ids), "the calls have finished")
	assert.Equal(t, map[string]int{"available": len(ids)}, host.rows(t))
	assert.Zero(t, host.count(t, "river_job WHERE cardinality(errors) > 0"), "a stop is no failure")
	before := results(t, host, ids)
	second := p.opened(t, worker.Options{})
	working(t, second, engineOn(second.store, calls.pass), worker.Config{})
	eventually(t, "each continues", func() bool { return host.rows(t)["running"] == len(ids) && calls.asked() > before+len(ids) })
	for _, id := range ids {
		require.NoError(t, engine.Control(t.Context(), id, flow.Pause{Drain: true}))
	}
	eventually(t, "all rest", func() bool { return host.rows(t)["completed"] == len(ids) })
	assert.Equal(t, calls.asked(), results(t, host, ids))
	for id, times := range calls.asks {
		assert.Equal(t, 1, times, id)
		assert.True(t, strings.HasSuffix(id, "/1"), "%s is no first attempt", id)
	}
}

// results counts the calls that have a result.
func results(t testing.TB, b *base, ids []string) (n int) {
	t.Helper()
	for _, id := range ids {
		n += len(flows.Results(logOf(t, b, id)))
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

// A worker whose time to stop is over breaks its calls off, and says so in one line, however many debates it works on. They are due for
// others at once.
func TestAStopPastItsBound(t *testing.T) {
	p := newPlace(t)
	own := p.opened(t, worker.Options{})
	var begun atomic.Int64
	engine := engineOn(own.store, func(ctx context.Context, _ *provider.Request) error {
		begun.Add(1)
		<-ctx.Done()
		return ctx.Err()
	})
	w, err := own.jobs.Worker(engine, worker.Config{River: soon()})
	require.NoError(t, err)
	require.NoError(t, w.Start(t.Context()))
	ids := []string{"a", "b", "c"}
	for _, id := range ids {
		submit(t, engine, debating(id))
	}
	eventually(t, "all are in work", func() bool { return begun.Load() >= int64(len(ids)) && own.rows(t)["running"] == len(ids) })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = w.Stop(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.EqualError(t, err, "river: stop: debate: shutdown: the calls of 3 of 3 open conversations were aborted: context canceled")
	assert.Equal(t, map[string]int{"available": len(ids)}, own.rows(t))
	second := p.opened(t, worker.Options{})
	others := engineOn(second.store, nil)
	working(t, second, others, worker.Config{})
	for _, id := range ids {
		assert.Equal(t, flow.StateCompleted, finished(t, others, id).State)
	}
}

// If the host program shuts the engine of a worker down, the worker puts off its jobs, in place of taking them again and again.
func TestAnEngineThatIsShutDown(t *testing.T) {
	p := newPlace(t)
	host, own := p.opened(t, worker.Options{}), p.opened(t, worker.Options{})
	engine := engineOn(own.store, nil)
	working(t, own, engine, worker.Config{})
	require.NoError(t, engine.Shutdown(t.Context()))
	submit(t, engineOn(host.store, nil), debating("a"))
	host.seen(t, "a", "scheduled, attempt 0 of 25")
}

// A worker without the key appends nothing, says what it lacks, and keeps no debate from the worker that has it.
func TestAWorkerWithoutAKey(t *testing.T) {
	const debates = 6
	p := newPlace(t)
	host := p.opened(t, worker.Options{})
	engine := engineOn(host.store, nil)
	without := p.opened(t, worker.Options{})
	lacking := engineOn(without.store, nil)
	lacking.Providers = map[string]debate.Provider{"other": cast(nil)}
	working(t, without, lacking, worker.Config{Queues: map[string]int{worker.DefaultQueue: 2}})
	for i := range debates {
		submit(t, engine, debating(fmt.Sprint("d", i)))
	}
	before := len(logOf(t, host, "d0"))
	for i := range debates {
		id := fmt.Sprint("d", i)
		eventually(t, "it finds that it lacks the provider of "+id, func() bool { return len(host.of(t, id).Errors) > 0 })
		assert.Contains(t, host.of(t, id).Errors[0].Error, `"test"`)
	}
	assert.Len(t, logOf(t, host, "d0"), before, "it appends nothing")
	eventually(t, "the jobs wait for an hour, as after many attempts", func() bool {
		host.execute(t, "UPDATE "+schema+".river_job SET "+anHour+" WHERE attempt < 12 AND state <> 'running'")
		return host.count(t, "river_job WHERE attempt = 12 AND state = 'retryable'") == debates
	})
	right := p.opened(t, worker.Options{})
	working(t, right, engineOn(right.store, nil), worker.Config{}) // beside the other, which goes on
	began := time.Now()
	for i := range debates {
		finished(t, engine, fmt.Sprint("d", i))
	}
	t.Logf("all are over after %v", time.Since(began).Round(time.Millisecond))
	assert.Zero(t, host.rows(t)["discarded"])
}

// anHour makes a job wait for an hour, as after its twelfth attempt.
const anHour = "state = 'retryable', attempt = 12, attempted_at = now(), scheduled_at = now() + interval '1 hour'"

// lacked makes it wait for an hour because another worker lacks something.
const lacked = anHour + `, metadata = '{"debate_lacking": ["another"]}'`

// A worker gives a job back that another one has claimed, as often as it gets it. If the other has not taken the job in time, the worker
// tries again: the debate may need something else by now.
func TestAJobThatAnotherWorkerClaims(t *testing.T) {
	p := newPlace(t)
	host, own := p.opened(t, worker.Options{}), p.opened(t, worker.Options{})
	lacking := engineOn(own.store, nil)
	lacking.Providers = map[string]debate.Provider{"other": cast(nil)}
	working(t, own, lacking, worker.Config{})
	submit(t, engineOn(host.store, nil), debating("a"))
	eventually(t, "it finds that it lacks the provider", func() bool { return len(host.of(t, "a").Errors) > 0 })
	eventually(t, "the job is claimed", func() bool {
		host.execute(t, "UPDATE "+schema+`.river_job SET state = 'available', scheduled_at = now(),
			metadata = metadata || jsonb_build_object('debate_wanted', now() + interval '1 hour') WHERE state <> 'running'`)
		return host.count(t, "river_job WHERE metadata ? 'debate_wanted'") == 1
	})
	failures := len(host.of(t, "a").Errors)
	eventually(t, "it gives the job back", func() bool {
		return host.count(t, "river_job WHERE (metadata->>'snoozes')::int > 2") == 1
	})
	assert.Len(t, host.of(t, "a").Errors, failures, "to give it back is no failure")
	host.execute(t, "UPDATE "+schema+".river_job SET metadata = metadata || jsonb_build_object('debate_wanted', now() - interval '1 second')")
	eventually(t, "it tries again", func() bool { return len(host.of(t, "a").Errors) > failures })
}

// A worker without a free slot claims no job that others lack something for: it could not take the job.
func TestAFullWorkerClaimsNothing(t *testing.T) {
	p := newPlace(t)
	host, own := p.opened(t, worker.Options{}), p.opened(t, worker.Options{})
	engine, calls := engineOn(host.store, nil), newGate(t)
	working(t, own, engineOn(own.store, calls.pass), worker.Config{Queues: map[string]int{worker.DefaultQueue: 1}})
	submit(t, engine, debating("busy"))
	eventually(t, "its slot is taken", func() bool { return calls.asked() > 0 })
	for _, id := range []string{"lacked", "missing"} {
		submit(t, engine, debating(id))
	}
	host.execute(t, "UPDATE "+schema+".river_job SET "+lacked+" WHERE args->>'id' = 'lacked'")
	host.execute(t, "DELETE FROM "+schema+".river_job WHERE args->>'id' = 'missing'")
	eventually(t, "it has looked at all jobs", func() bool { return host.of(t, "missing") != nil })
	assert.Equal(t, rivertype.JobStateRetryable, host.state(t, "lacked"))
	calls.open()
	for _, id := range []string{"busy", "missing", "lacked"} {
		finished(t, engine, id)
	}
	host.seen(t, "lacked", "completed, attempt 12 of 25") // the twelfth again: the other worker's does not count
}
