package river_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/internal/stage/process"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
	worker "github.com/agonist-dev/debate/worker/river"
)

var (
	crowd   = flag.Int("river.debates", longform.Or(2000, 16), "how many debates the figures are measured with")
	latency = flag.Duration("river.latency", longform.Or(time.Second, 20*time.Millisecond), "how long their calls take")

	processes = flag.Bool("river.processes", longform.Asked(), "the workers of TestThroughput are processes of their own")
)

// short is the config of a debate of one round.
func short(id string) debate.Config {
	c := debating(id)
	c.Rounds, c.Patience = 1, time.Hour
	return c
}

// ended waits until that many debates are completed, and returns when the last was.
func ended(t testing.TB, engine *debate.Engine, debates int) time.Time {
	t.Helper()
	return flows.Reached(t, engine, flow.StateCompleted, debates)
}

// Four workers get through as many debates as one process with as many calls in flight. With -river.processes each of the four is a
// process of its own.
func TestThroughput(t *testing.T) {
	longform.Only(t, "several workers get through many debates in TestKill, and no time is measured")
	const workers = 4
	places := max(*crowd/16, 4) // of each worker
	single, singleTime := alone(t, workers*places)
	shared, sharedTime := together(t, workers, places)
	ratio := float64(single) / float64(shared)
	kind := "four workers in one process"
	if *processes {
		kind = "four processes"
	}
	t.Logf("%d debates, calls of %v, %d at a time: one process %v (%.0f %% of a core), %s %v: throughput %.2f x", *crowd, *latency,
		workers*places, single.Round(time.Millisecond), 100*singleTime.Seconds()/single.Seconds(), kind, shared.Round(time.Millisecond), ratio)
	t.Logf("processor time per debate: one process %v, %s %v", (singleTime / time.Duration(*crowd)).Round(10*time.Microsecond), kind,
		(sharedTime / time.Duration(*crowd)).Round(10*time.Microsecond))
	assert.GreaterOrEqual(t, ratio, 0.9)
}

// alone works on all debates in this process, with that many at a time.
func alone(t *testing.T, most int) (took, spent time.Duration) {
	t.Helper()
	b := newPlace(t).opened(t, worker.Options{})
	engine := engineOn(b.store, slowly(*latency))
	ids := make([]string, *crowd)
	for i := range ids {
		ids[i] = fmt.Sprint("d", i)
		submit(t, engine, short(ids[i]))
	}
	began, before := time.Now(), process.CPU()
	flows.PlayAll(t, engine, ids, most)
	return time.Since(began), process.CPU() - before
}

// together works on all debates with some workers. The time of processes includes that of their start, and their processor time is
// theirs alone.
func together(t *testing.T, workers, places int) (took, spent time.Duration) {
	t.Helper()
	p := newPlace(t)
	host := p.opened(t, worker.Options{})
	engine := engineOn(host.store, nil)
	for i := range *crowd {
		submit(t, engine, short(fmt.Sprint("d", i)))
	}
	if !*processes {
		for range workers {
			b := p.opened(t, worker.Options{})
			working(t, b, engineOn(b.store, slowly(*latency)), worker.Config{
				Queues: map[string]int{worker.DefaultQueue: places}, River: &river.Config{TestOnly: true},
			})
		}
		began, before := time.Now(), process.CPU()
		ended(t, engine, *crowd/2)
		connections(t, host, workers)
		return ended(t, engine, *crowd).Sub(began), process.CPU() - before
	}
	began := time.Now()
	var all []*process.Process[order]
	for i := range workers {
		all = append(all, launch(t, order{
			Place: p, Name: fmt.Sprint("w", i), Ledger: filepath.Join(t.TempDir(), "ledger"), Latency: *latency, Slots: places, Calm: true,
		}))
	}
	ended(t, engine, *crowd/2)
	connections(t, host, workers)
	took = ended(t, engine, *crowd).Sub(began)
	for _, one := range all {
		one.Kill()
		spent += one.Used()
	}
	return took, spent
}

// connections logs how many connections the workers and the test have.
func connections(t *testing.T, host *base, workers int) {
	t.Helper()
	var n int
	require.NoError(t, host.pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid()`).Scan(&n))
	t.Logf("%d workers and the test have %d connections", workers, n)
}

// Workers without work ask the database little, however many queues they serve.
func TestIdleQueries(t *testing.T) {
	longform.Only(t, "nothing: it counts queries in a span of time")
	const workers, span = 4, 10 * time.Second
	for _, queues := range []int{1, 100} {
		t.Run(fmt.Sprint(queues), func(t *testing.T) {
			p := newPlace(t)
			host := p.opened(t, worker.Options{})
			all := make(map[string]int)
			for i := range queues {
				all[fmt.Sprint("tenant-", i)] = 5
			}
			for range workers {
				b := p.opened(t, worker.Options{})
				working(t, b, engineOn(b.store, nil), worker.Config{Queues: all, River: &river.Config{TestOnly: true}})
			}
			count := func() (n int) {
				require.NoError(t, host.pool.QueryRow(t.Context(), `SELECT xact_commit + xact_rollback FROM pg_stat_database
					WHERE datname = current_database()`).Scan(&n))
				return n
			}
			timer := time.NewTimer(5 * time.Second) // until they have begun
			<-timer.C
			before := count()
			timer.Reset(span)
			<-timer.C
			perSecond := float64(count()-before) / span.Seconds()
			t.Logf("%d idle workers of %d queues: %.1f transactions per second in all", workers, queues, perSecond)
			assert.Less(t, perSecond, 40.0)
		})
	}
}

// An answer of a person reaches a debate that no process holds: a call follows.
func TestFromAnAnswerToTheNextCall(t *testing.T) {
	p := newPlace(t)
	host := p.opened(t, worker.Options{})
	engine := engineOn(host.store, nil)
	var mu sync.Mutex
	given, heard := make(map[string]time.Time), make(map[string]time.Duration)
	b := p.opened(t, worker.Options{})
	working(t, b, engineOn(b.store, func(ctx context.Context, req *provider.Request) error {
		id, _, _ := strings.Cut(req.ID, "/")
		mu.Lock()
		if at, ok := given[id]; ok && heard[id] == 0 {
			heard[id] = time.Since(at)
		}
		mu.Unlock()
		return slowly(10*time.Millisecond)(ctx, req)
	}), worker.Config{River: &river.Config{TestOnly: true}})
	for i := range *crowd {
		config := debating(fmt.Sprint("d", i))
		config.Unattended, config.Judging.Judges = false, []debate.JudgeConfig{{Name: "Zoe", Person: true}}
		submit(t, engine, config)
	}
	flows.Reached(t, engine, flow.StateAwaitingInput, *crowd)
	eventually(t, "a debate that waits for a person has no job", func() bool {
		jobs := host.rows(t)
		return jobs["available"]+jobs["running"] == 0
	})
	verdict, err := json.Marshal(debate.PersonJudgement{
		Scores: map[string]float64{"Ada": 8, "Ben": 7}, QualityScore: 7, ShouldContinue: true, Reasoning: "Both were clear.",
	})
	require.NoError(t, err)
	for i := range *crowd {
		id := fmt.Sprint("d", i)
		record, err := engine.Record(t.Context(), id)
		require.NoError(t, err)
		require.Len(t, record.Inquiries, 1)
		mu.Lock()
		given[id] = time.Now()
		mu.Unlock()
		require.NoError(t, engine.Control(t.Context(), id, flow.Answer{Inquiry: record.Inquiries[0].ID, Text: string(verdict)}))
		if longform.Asked() { // so that no answer waits behind another
			timer := time.NewTimer(30 * time.Millisecond)
			<-timer.C
		}
	}
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(heard)
	}
	eventually(t, "each answer is followed by a call", func() bool { return count() == *crowd })
	mu.Lock()
	defer mu.Unlock()
	all := slices.Sorted(maps.Values(heard))
	t.Logf("from an answer to the next call, %d times: p50 %v, p99 %v", len(all), flows.Quantile(all, 0.5), flows.Quantile(all, 0.99))
	if longform.Asked() { // a few measure the machine
		assert.Less(t, flows.Quantile(all, 0.5), 5*time.Second)
	}
}

// Jobs that wait cost nothing until they are due, however many there are: a worker looks at none of them.
func TestManyJobsThatWait(t *testing.T) {
	longform.Only(t, "nothing: it measures the database")
	const debates, span = 50_000, 20 * time.Second
	p := newPlace(t)
	host := p.opened(t, worker.Options{})
	engine := engineOn(host.store, nil)
	alarms, ok := any(host.store).(store.Alarms)
	require.True(t, ok)
	const submitters = 8
	var all sync.WaitGroup
	for first := range submitters {
		all.Go(func() {
			for i := first; i < debates; i += submitters {
				_, err := engine.Submit(t.Context(), short(fmt.Sprint("d", i)))
				assert.NoError(t, err)
			}
		})
	}
	all.Wait()
	var waiting []store.Info
	for info, err := range engine.List(t.Context(), debate.Filter{}) {
		require.NoError(t, err)
		waiting = append(waiting, info)
	}
	for _, info := range waiting {
		require.NoError(t, alarms.SetAlarm(t.Context(), info.ID, info.Seq, time.Hour))
	}
	host.execute(t, "UPDATE debate_river.river_job SET state = 'scheduled', scheduled_at = now() + interval '1 hour'")
	host.execute(t, "ANALYZE")
	own := p.opened(t, worker.Options{})
	working(t, own, engineOn(own.store, nil), worker.Config{River: &river.Config{TestOnly: true}})
	active := func() (ms float64) {
		require.NoError(t, host.pool.QueryRow(t.Context(), `SELECT active_time FROM pg_stat_database
			WHERE datname = current_database()`).Scan(&ms))
		return ms
	}
	timer := time.NewTimer(5 * time.Second) // until it has begun
	<-timer.C
	before := active()
	timer.Reset(span)
	<-timer.C
	spent := time.Duration((active() - before) * float64(time.Millisecond))
	const looks = span / (2500 * time.Millisecond)
	t.Logf("%d jobs wait: the database has worked %v in %v, for %d looks and all else", debates, spent.Round(time.Millisecond), span, looks)
	assert.Less(t, spent/looks, 50*time.Millisecond)
	assert.Equal(t, map[string]int{"scheduled": debates}, host.rows(t))
}
