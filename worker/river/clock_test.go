package river_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/internal/stage/process"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store/sql"
	worker "github.com/agonist-dev/debate/worker/river"
)

// clock is off by some time, for River.
type clock time.Duration

// Now implements River's generator of times.
func (c clock) Now() time.Time { return time.Now().UTC().Add(time.Duration(c)) }

// NowOrNil implements River's generator of times: it leaves to the database what River does.
func (clock) NowOrNil() *time.Time { return nil }

// A worker for whose River the clock is an hour off delays nothing, whether it leads or not: neither waits nor the debates of others.
func TestAClockThatIsOff(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(off.String(), func(t *testing.T) {
			t.Parallel()
			const debates = 4
			p := newPlace(t)
			host := p.opened(t, worker.Options{})
			engine := engineOn(host.store, nil)
			var seen sync.Map
			now := func(ctx context.Context, req *provider.Request) error {
				id, _, _ := strings.Cut(req.ID, "/")
				if _, again := seen.LoadOrStore(id, true); !again { // a wait that is long enough for the debate to be released
					return &provider.Error{Kind: provider.KindRateLimit, RetryAfter: 8 * time.Second, NotSent: true}
				}
				return slowly(10*time.Millisecond)(ctx, req)
			}
			wrong := p.opened(t, worker.Options{})
			settings := soon()
			settings.Test.Time = clock(off)
			working(t, wrong, engineOn(wrong.store, now), worker.Config{River: settings, Far: time.Millisecond})
			right := p.opened(t, worker.Options{})
			working(t, right, engineOn(right.store, now), worker.Config{Far: time.Millisecond})
			began := time.Now()
			for i := range debates {
				config := debating(fmt.Sprint("d", i))
				config.Patience = time.Hour
				submit(t, engine, config)
			}
			for i := range debates {
				finished(t, engine, fmt.Sprint("d", i))
			}
			assert.Less(t, time.Since(began), 30*time.Minute, "an hour was waited for")
			assert.Positive(t, host.count(t, "river_job WHERE metadata ? 'snoozes'"), "no debate was released: the test finds nothing")
			assert.Zero(t, host.rows(t)["discarded"])
		})
	}
}

// A job that was attempted more often than a float has powers of two keeps no worker from looking after the jobs of others.
func TestAJobThatWasAttemptedOften(t *testing.T) {
	t.Parallel()
	host := newPlace(t).opened(t, worker.Options{})
	engine := engineOn(host.store, nil)
	for id, set := range map[string]string{
		"often": "state = 'retryable', attempt = 1100, max_attempts = 1200, attempted_at = now() - interval '2 hours'", "late": "state = 'scheduled'",
	} {
		submit(t, engine, debating(id))
		host.execute(t, "UPDATE "+schema+".river_job SET scheduled_at = now() + interval '1 hour', "+set+" WHERE args->>'id' = $1", id)
	}
	working(t, host, engineOn(host.store, nil), worker.Config{})
	for _, id := range []string{"often", "late"} {
		assert.Equal(t, flow.StateCompleted, finished(t, engine, id).State)
	}
}

// timed is a debate with a limit of half an hour, by its id: a hard one, which fails it, or a soft one, which ends it early.
func timed(id string) debate.Config {
	config := debating(id)
	config.Patience = time.Hour
	stage.Pausing(&config, time.Second)
	config.Budget = &flow.Budget{SoftTime: 30 * time.Minute}
	if id == "hard" {
		config.Budget = &flow.Budget{HardTime: 30 * time.Minute}
	}
	return config
}

// Workers whose clocks are hours apart, as processes, carry debates with limits of time to their end, one after the other. The first also
// submits them; the first two are killed.
func TestWorkersWhoseClocksAreOff(t *testing.T) {
	t.Parallel()
	process.NeedsClock(t)
	for _, off := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(off.String(), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			ids := []string{"hard", "soft"}
			o := order{Place: p, Ledger: filepath.Join(t.TempDir(), "ledger"), Lease: time.Second, Slots: 5}
			o.Name, o.Off, o.Latency, o.Timed = "first", off, time.Hour, ids
			o.untilAsked(t, ids).Kill()
			o.Name, o.Off, o.Timed = "second", -off, nil
			o.untilAsked(t, ids).Kill()
			o.Name, o.Off, o.Latency = "third", 2*off, 10*time.Millisecond
			o.untilAsked(t, ids)
			engine := engineOn(p.opened(t, worker.Options{}).store, nil)
			for _, id := range ids {
				record := finished(t, engine, id)
				assert.Equal(t, flow.StateCompleted, record.State)
				assert.Equal(t, flow.EndRounds, record.Reason)
				assert.Len(t, record.Turns, 4)
				assert.Less(t, record.Duration(), 30*time.Minute)
			}
		})
	}
}

// What a worker puts off whose clock is an hour behind is due when the wait is over, and not at once.
func TestAWaitByAClockThatIsBehind(t *testing.T) {
	t.Parallel()
	process.NeedsClock(t)
	p := newPlace(t)
	host := p.opened(t, worker.Options{})
	config := asking("asked")
	config.Budget = &flow.Budget{HardTime: 30 * time.Minute}
	submit(t, engineOn(host.store, nil), config)
	o := order{Place: p, Name: "behind", Ledger: filepath.Join(t.TempDir(), "ledger"), Lease: time.Second, Slots: 5, Off: -time.Hour}
	launch(t, o)
	job := host.seen(t, "asked", "scheduled, attempt 0 of 25")
	assert.WithinDuration(t, time.Now().Add(30*time.Minute), job.ScheduledAt, 10*time.Minute)
}

// setStore is a store whose clock is set.
type setStore struct {
	*sql.Store

	by atomic.Int64 // nanoseconds
}

// Time implements [store.Clock].
func (s *setStore) Time(ctx context.Context) (time.Time, error) {
	now, err := s.Store.Time(ctx)
	return now.Add(time.Duration(s.by.Load())), err
}

// The clock of the store is set forward by an hour. While a worker holds the debate, that counts as no time. Between two turns of its job
// it counts once, as if nobody had worked on it.
func TestTheClockOfTheStoreIsSet(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]bool{"in a call": false, "between two turns": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := newPlace(t).opened(t, worker.Options{})
			store := &setStore{Store: host.store}
			var calls atomic.Int64
			engine := engineOn(store, func(context.Context, *provider.Request) error {
				switch second := calls.Add(1) == 2; {
				case second && between:
					return &provider.Error{Kind: provider.KindRateLimit, RetryAfter: 6 * time.Second, NotSent: true}
				case second:
					store.by.Store(int64(time.Hour))
				}
				return nil
			})
			engine.Lease = 6 * time.Second // the clock is read anew after a third of it
			working(t, host, engine, worker.Config{Far: time.Millisecond})
			config := timed("soft")
			config.Labels = nil
			submit(t, engine, config)
			if between {
				eventually(t, "the debate is released", func() bool { return host.state(t, "soft") == rivertype.JobStateScheduled })
				store.by.Store(int64(time.Hour))
			}
			record := finished(t, engine, "soft")
			assert.Equal(t, between, record.Duration() >= time.Hour, record.Duration())
			assert.Less(t, record.Duration(), 2*time.Hour)
			assert.Equal(t, between, record.Reason == flow.EndSoftLimit, record.Reason)
		})
	}
}

// untilAsked starts a worker, and returns once it was asked for a call of each debate.
func (o order) untilAsked(t *testing.T, ids []string) *process.Process[order] {
	t.Helper()
	p := launch(t, o)
	for _, id := range ids {
		eventually(t, o.Name+" works on "+id, func() bool {
			asked, err := flows.ReadLedger(o.Ledger)
			require.NoError(t, err)
			return slices.ContainsFunc(asked[id], func(a flows.Asked) bool { return a.By == o.Name })
		})
	}
	return p
}
