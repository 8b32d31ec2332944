package river_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
	worker "github.com/agonist-dev/debate/worker/river"
)

// A debate that needs a process is worked on, whatever has become of its job. River polls too seldom here to help.
func TestWhatBecomesOfJobs(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change string // of the job, before the worker starts
		want   string // how the job is shown in the end
	}{
		"missing":   {"", "completed, attempt 1 of 25"},
		"discarded": {"state = 'discarded', attempt = 25, finalized_at = now()", "completed, attempt 1 of 25"}, // another one
		"late":      {"scheduled_at = now() + interval '1 hour'", "completed, attempt 1 of 25"},
		"scheduled": {"state = 'scheduled', scheduled_at = now() + interval '1 hour'", "completed, attempt 1 of 25"},
		"retryable": {
			"state = 'retryable', attempt = 3, attempted_at = now() - interval '9 seconds', scheduled_at = now() + interval '1 hour'",
			"completed, attempt 4 of 25",
		},
		"backing-off":    {anHour, "retryable, attempt 12 of 25"},
		"lacked":         {lacked, "completed, attempt 12 of 25"}, // the other worker's attempt does not count
		"lacked-soon":    {strings.Replace(lacked, "retryable", "available", 1), "completed, attempt 13 of 25"},
		"lacked-nowhere": {lacked + ", queue = 'nowhere'", "retryable, attempt 12 of 25"},
		"lacked-often": {
			lacked + `, errors = array_fill('{"at": "2026-01-02T03:04:05Z", "attempt": 1, "error": "it lacks a provider"}'::jsonb, ARRAY[100])`,
			"retryable, attempt 12 of 25: it lacks a provider",
		},
		"lost": {
			"state = 'running', attempt = 1, attempted_at = now() - interval '1 hour', attempted_by = '{before,gone}'",
			"completed, attempt 2 of 25: worker gone has disappeared",
		},
		"lost-and-cancelled": {
			`state = 'running', attempt = 1, attempted_at = now() - interval '1 hour', attempted_by = '{gone}',
				metadata = '{"cancel_attempted_at": "2026-01-02T03:04:05Z"}'`,
			"cancelled, attempt 1 of 25: worker gone has disappeared",
		},
		"lost-often": {
			"state = 'running', attempt = 40, attempted_at = now() - interval '20 minutes', attempted_by = '{gone}'",
			"available, attempt 40 of 25: worker gone has disappeared",
		},
		"just-taken": {"state = 'running', attempt = 1, attempted_at = now(), attempted_by = '{other}'", "running, attempt 1 of 25"},
	}
	p := newPlace(t)
	host := p.opened(t, worker.Options{})
	engine := engineOn(host.store, nil)
	for id, test := range tests {
		submit(t, engine, debating(id))
		if test.change == "" {
			host.execute(t, "DELETE FROM debate_river.river_job WHERE args->>'id' = $1", id)
		} else {
			host.execute(t, "UPDATE debate_river.river_job SET "+test.change+" WHERE args->>'id' = $1", id)
		}
	}
	// By the clock of the worker that finds it, its debate has gone on an hour after the job was cancelled.
	host.execute(t, `UPDATE debate SET at = to_char(now() AT TIME ZONE 'UTC' + interval '1 hour', 'YYYY-MM-DD"T"HH24:MI:SS.US"000Z"')
		WHERE id = 'lost-and-cancelled'`)
	own := p.opened(t, worker.Options{})
	drains := engineOn(own.store, nil)
	drains.Lease = 30 * time.Second // nothing that was just taken is lost meanwhile
	working(t, own, drains, worker.Config{River: &river.Config{FetchPollInterval: time.Hour, TestOnly: true, LeaderElectionDisabled: true}})
	for id, test := range tests {
		host.seen(t, id, test.want)
		if test.want[:9] == "completed" {
			assert.Equal(t, flow.StateCompleted, finished(t, engine, id).State, id)
		}
	}
	for _, id := range []string{"backing-off", "lacked-nowhere", "lacked-often"} { // a look has passed since
		assert.Equal(t, rivertype.JobStateRetryable, host.state(t, id), id)
	}
	assert.Equal(t, 2, host.count(t, "river_job WHERE args->>'id' = 'discarded'"))
	assert.Greater(t, time.Until(host.of(t, "lost-often").ScheduledAt), 30*time.Minute, "it may be what ends its workers")
	eventually(t, "whose job was cancelled is paused", func() bool { return state(t, engine, "lost-and-cancelled") == flow.StatePaused })
	assert.Equal(t, 1, host.count(t, "river_job WHERE args->>'id' = 'lost-and-cancelled'"))
}

// A job whose notification was lost is fetched all the same, long before River polls.
func TestALostNotification(t *testing.T) {
	p := newPlace(t)
	host := p.opened(t, worker.Options{})
	engine := engineOn(host.store, nil)
	submit(t, engine, debating("a"))
	host.execute(t, "UPDATE debate_river.river_job SET state = 'pending'") // nobody takes it
	own := p.opened(t, worker.Options{})
	working(t, own, engineOn(own.store, nil), worker.Config{River: &river.Config{FetchPollInterval: time.Hour, TestOnly: true}})
	host.execute(t, "UPDATE debate_river.river_job SET state = 'available'")
	assert.Equal(t, flow.StateCompleted, finished(t, engine, "a").State)
}

// lines keeps what a logger writes.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Jobs in a queue that no client serves are counted and logged, until some worker serves it.
func TestAQueueThatNobodyServes(t *testing.T) {
	p := newPlace(t)
	var logged lines
	options := worker.Options{
		Route:  func(info store.Info) worker.Route { return worker.Route{Queue: "tenant-" + info.Labels["tenant"]} },
		Logger: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	host := p.opened(t, options)
	engine := engineOn(host.store, nil)
	for id, tenant := range map[string]string{"a": "1", "b": "2", "c": "2"} {
		config := debating(id)
		config.Labels = map[string]string{"tenant": tenant}
		submit(t, engine, config)
	}
	own := p.opened(t, options)
	w := working(t, own, engineOn(own.store, nil), worker.Config{Queues: map[string]int{"tenant-1": 5}})
	finished(t, engine, "a")
	unserved, err := own.jobs.Unserved(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"tenant-2": 2}, unserved)
	eventually(t, "a line says so", func() bool { return strings.Contains(logged.String(), "queue=tenant-2 jobs=2") })

	require.NoError(t, w.AddQueue("tenant-2", 5))
	finished(t, engine, "b")
	finished(t, engine, "c")
	unserved, err = own.jobs.Unserved(t.Context())
	require.NoError(t, err)
	assert.Empty(t, unserved)
	assert.Equal(t, flow.Kind("validation"), kindOf(w.AddQueue("tenant-2", 5)), "it is served already")
}

// Labels are tags where River allows it, and a route that it does not allow is an error of the submit.
func TestRoutesAndTags(t *testing.T) {
	p := newPlace(t)
	route := func(info store.Info) worker.Route {
		return worker.Route{Queue: info.Labels["queue"], Priority: len(info.Labels["urgent"])}
	}
	labels := map[string]string{"tenant": "acme", "note": "two words", "urgent": "no", "queue": "slow"}
	for name, test := range map[string]struct {
		options worker.Options
		tags    []string
	}{
		"all labels":  {worker.Options{Route: route}, []string{"queue-slow", "tenant-acme", "urgent-no"}},
		"some labels": {worker.Options{Route: route, Tags: []string{"tenant", "note", "missing"}}, []string{"tenant-acme"}},
		"no labels":   {worker.Options{Route: route, Tags: []string{}}, []string{}},
	} {
		b := p.opened(t, test.options)
		config := debating("")
		config.Labels = labels
		id, err := engineOn(b.store, nil).Submit(t.Context(), config)
		require.NoError(t, err)
		job := b.of(t, id)
		assert.ElementsMatch(t, test.tags, job.Tags, name)
		assert.Equal(t, "slow", job.Queue)
		assert.Equal(t, 2, job.Priority)
		assert.Equal(t, rivertype.JobStateAvailable, job.State)
	}
	b := p.opened(t, worker.Options{Route: route})
	engine := engineOn(b.store, nil)
	for _, wrong := range []map[string]string{{"queue": "no such name!"}, {"urgent": "12345"}} {
		config := debating("refused")
		config.Labels = wrong
		_, err := engine.Submit(t.Context(), config)
		require.ErrorContains(t, err, "Options.Route")
		assert.Equal(t, flow.Kind("validation"), kindOf(err))
		_, err = engine.Record(t.Context(), "refused")
		require.ErrorIs(t, err, flow.ErrNotFound, "nothing is stored without a job")
	}
}
