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

// both measures workers of this package, and those of Engine.Work, each in an empty place.
func both(t *testing.T, measure func(t *testing.T, p place)) {
	t.Helper()
	for _, plain := range []bool{false, true} {
		name := "River"
		if plain {
			name = "Work"
		}
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.Plain = plain
			measure(t, p)
		})
	}
}

// works starts a worker in this process for as long as the test runs. nil: it has its default queue.
func (p place) works(t testing.TB, queues map[string]int, before asked) {
	t.Helper()
	b := p.opened(t, worker.Options{})
	engine := engineOn(b.store, before)
	if !p.Plain {
		working(t, b, engine, worker.Config{Queues: queues, River: &river.Config{TestOnly: true}})
		return
	}
	slots := 0
	for _, n := range queues {
		slots += n
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- engine.Work(ctx, debate.Work{Slots: slots}) }()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-ended)
	})
}

// Four workers get through as many debates as one process with as many calls in flight. With -river.processes each of the four is a
// process of its own.
func TestThroughput(t *testing.T) {
	longform.Only(t, "several workers get through many debates in TestKill, and no time is measured")
	const workers = 4
	places := max(*crowd/16, 4) // of each worker
	single, singleTime := alone(t, workers*places)
	kind := "four workers in one process"
	if *processes {
		kind = "four processes"
	}
	both(t, func(t *testing.T, p place) {
		shared, sharedTime := together(t, p, workers, places)
		ratio := float64(single) / float64(shared)
		t.Logf("%d debates, calls of %v, %d at a time: one process %v (%.0f %% of a core), %s %v: throughput %.2f x", *crowd, *latency,
			workers*places, single.Round(time.Millisecond), 100*singleTime.Seconds()/single.Seconds(), kind, shared.Round(time.Millisecond), ratio)
		t.Logf("processor time per debate: one process %v, %s %v", (singleTime / time.Duration(*crowd)).Round(10*time.Microsecond), kind,
			(sharedTime / time.Duration(*crowd)).Round(10*time.Microsecond))
		assert.GreaterOrEqual(t, ratio, 0.9)
	})
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
func together(t *testing.T, p place, workers, places int) (took, spent time.Duration) {
	t.Helper()
	host := p.opened(t, worker.Options{})
	engine := engineOn(host.store, nil)
	for i := range *crowd {
		submit(t, engine, short(fmt.Sprint("d", i)))
	}
	own := connections(t, host)
	half := func() {
		ended(t, engine, *crowd/2)
		t.Logf("%d workers have %.1f connections each", workers, float64(connections(t, host)-own)/float64(workers))
	}
	if !*processes {
		for range workers {
			p.works(t, map[string]int{worker.DefaultQueue: places}, slowly(*latency))
		}
		began, before := time.Now(), process.CPU()
		half()
		return ended(t, engine, *crowd).Sub(began), process.CPU() - before
	}
	began := time.Now()
	var all []*process.Process[order]
	for i := range workers {
		all = append(all, launch(t, order{
			Place: p, Name: fmt.Sprint("w", i), Ledger: filepath.Join(t.TempDir(), "ledger"), Latency: *latency, Slots: places, Calm: true,
		}))
	}
	half()
	took = ended(t, engine, *crowd).Sub(began)
	for _, one := range all {
		one.Kill()
		spent += one.Used()
	}
	return took, spent
}

// connections returns how many connections the workers and the test have.
func connections(t *testing.T, host *base) (n int) {
	t.Helper()
	require.NoError(t, host.pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid()`).Scan(&n))
	return n
}

// Workers without work ask the database little, however many queues they serve.
func TestIdleQueries(t *testing.T) {
	longform.Only(t, "nothing: it counts queries in a span of time")
	both(t, func(t *testing.T, p place) {
		idle(t, p, 1)
		if !p.Plain {
			idle(t, p, 100)
		}
	})
}

// idle counts what workers of so many queues ask.
func idle(t *testing.T, p place, queues int) {
	t.Helper()
	const workers, span = 4, 10 * time.Second
	t.Run(fmt.Sprint(queues), func(t *testing.T) {
		host := p.opened(t, worker.Options{})
		all := make(map[string]int)
		for i := range queues {
			all[fmt.Sprint("tenant-", i)] = 5
		}
		for range workers {
			p.works(t, all, nil)
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

// An answer of a person reaches a debate that no process holds: a call follows.
func TestFromAnAnswerToTheNextCall(t *testing.T) { both(t, answers) }

func answers(t *testing.T, p place) {
	t.Helper()
	host := p.opened(t, worker.Options{})
	engine := engineOn(host.store, nil)
	var mu sync.Mutex
	given, heard := make(map[string]time.Time), make(map[string]time.Duration)
	p.works(t, nil, func(ctx context.Context, req *provider.Request) error {
		id, _, _ := strings.Cut(req.ID, "/")
		mu.Lock()
		if at, ok := given[id]; ok && heard[id] == 0 {
			heard[id] = time.Since(at)
		}
		mu.Unlock()
		return slowly(10*time.Millisecond)(ctx, req)
	})
	for i := range *crowd {
		config := debating(fmt.Sprint("d", i))
		config.Unattended, config.Judging.Judges = false, []debate.JudgeConfig{{Name: "Zoe", Person: true}}
		submit(t, engine, config)
	}
	flows.Reached(t, engine, flow.StateAwaitingInput, *crowd)
	eventually(t, "a debate that waits for a person has no job, and no process", func() bool {
		for info, err := range engine.List(t.Context(), debate.Filter{}) {
			if err != nil || info.Owner != "" {
				return false
			}
		}
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
