package sql_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/store/sql"
)

// observed is a store that watches, whose statements are counted.
type observed struct {
	*storage

	store      *sql.Store
	statements *atomic.Int64
	wire       *wire // of PostgreSQL
}

// eachObserved runs a test on each database, and on a PostgreSQL whose notifications do not arrive, as behind a pooler.
func eachObserved(t *testing.T, options sql.Options, test func(t *testing.T, o *observed)) {
	t.Helper()
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		o := &observed{storage: newSQLite(t)}
		var err error
		o.store, err = o.open(t.Context(), options)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, o.store.Close()) })
		o.statements, err = o.store.Counted(o.path, 9)
		require.NoError(t, err)
		test(t, o)
	})
	for name, deaf := range map[string]bool{"PostgreSQL": false, "PostgreSQL without notifications": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newObserved(t, options)
			o.wire.deaf.Store(deaf)
			test(t, o)
		})
	}
}

// newObserved opens a store on PostgreSQL by way of a wire.
func newObserved(t *testing.T, options sql.Options) *observed {
	t.Helper()
	o := &observed{storage: newPostgres(t)}
	o.wire = newWire(t, o.url, "")
	o.statements = &o.wire.statements
	var err error
	o.store, err = options.OpenPostgres(t.Context(), o.wire.url)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, o.store.Close()) })
	return o
}

// begin begins conversations, and watches each so many times in the observed store.
func (o *observed) begin(t *testing.T, other *sql.Store, conversations, watchers int) (watches map[string][]<-chan struct{}) {
	t.Helper()
	var beginning sync.WaitGroup
	watches = make(map[string][]<-chan struct{})
	for i := range conversations {
		id := fmt.Sprint("d", i)
		watches[id] = nil
		beginning.Go(func() { assert.NoError(t, other.Append(t.Context(), id, 0, "w", begun(flow.StatePaused))) })
	}
	beginning.Wait()
	for id := range watches {
		for range watchers {
			watches[id] = append(watches[id], o.store.Watch(t.Context(), id))
		}
	}
	return watches
}

// A thousand conversations in which nothing happens, each watched five times, cost three statements a second at most.
func TestIdleWatchersAskLittle(t *testing.T) {
	eachObserved(t, sql.Options{}, func(t *testing.T, o *observed) {
		const span = 2 * time.Second
		watches := o.begin(t, o.storage.store(t), longform.Sized(1000, 1000, 200), 5)
		most := int64(3 * span / time.Second)
		quiet := 0                  // spans in a row
		eventually(t, func() bool { // once the watchers of a busy machine have settled
			before := o.statements.Load()
			<-time.After(span)
			asked := o.statements.Load() - before
			t.Logf("%d statements in %s", asked, span)
			if quiet++; asked > most {
				quiet = 0
			}
			return quiet == 3
		})
		other := o.storage.store(t)
		for id, all := range watches {
			require.NoError(t, other.Append(t.Context(), id, 2, "w", facts(2, 1)))
			for _, watch := range all {
				grown(t, watch)
			}
			break // they have not fallen asleep
		}
	})
}

// Each step of another store wakes all who watch its conversation: whatever it appends, a control, a redaction, a deletion, and a
// conversation that begins again.
func TestEachStepOfAnotherStoreWakesAllWhoWatch(t *testing.T) {
	eachObserved(t, sql.Options{}, func(t *testing.T, o *observed) {
		const watchers = 5
		conversations := longform.Or(20, 3)
		other := o.storage.store(t)
		watches := o.begin(t, other, conversations, watchers)
		var delays []time.Duration
		step := func(id string, do func() error) {
			for _, watch := range watches[id] {
				drained(watch)
			}
			require.NoError(t, do())
			began := time.Now()
			for _, watch := range watches[id] {
				grown(t, watch)
			}
			delays = append(delays, time.Since(began))
		}
		for i := range conversations {
			id := fmt.Sprint("d", i)
			step(id, func() error { return other.Append(t.Context(), id, 2, "w", facts(2, 1)) })
			step(id, func() error { return other.Append(t.Context(), id, 3, "you", moved(4, flow.StatePaused, "speaking")) })
			step(id, func() error {
				redacted := flow.Event{Seq: 5, At: time.Unix(5, 0).UTC(), Body: &flow.Redacted{With: "gone"}}
				return other.Redact(t.Context(), id, 4, append(facts(2, 1), redacted), nil)
			})
			if i%4 == 0 {
				step(id, func() error { return other.Delete(t.Context(), id) })
				step(id, func() error { return other.Append(t.Context(), id, 0, "w", facts(0, 1)) })
			}
		}
		slices.Sort(delays)
		t.Logf("%d steps; from a step to all who watch: p50 %s, most %s", len(delays), delays[len(delays)/2], delays[len(delays)-1])
	})
}

// A store that has heard others and no longer does, or whose connections break, misses nothing.
func TestWhoeverWatchesOutlivesItsConnection(t *testing.T) {
	t.Parallel()
	o := newObserved(t, sql.Options{Poll: 10 * time.Millisecond})
	other := o.storage.store(t)
	watches := o.begin(t, other, 3, 5)
	seq := int64(2)
	step := func() {
		t.Helper()
		for id, all := range watches {
			require.NoError(t, other.Append(t.Context(), id, seq, "w", facts(seq, 1)))
			for _, watch := range all {
				grown(t, watch)
			}
		}
		seq++
	}
	step()
	o.wire.deaf.Store(true)
	step()
	step()
	o.wire.cut()
	step()
	o.wire.deaf.Store(false)
	o.wire.cut()
	step()
	o.wire.cut()
	o.store.Watch(t.Context(), "d0") // with the connection that is gone
	step()
	step()
}

// Whoever announces ends with the store, and nothing looks after the last watcher.
func TestTellingOthersLeavesNothingBehind(t *testing.T) {
	alone(t, func(t *testing.T, s *storage) {
		before := goleak.IgnoreCurrent()
		store, err := s.open(t.Context(), sql.Options{})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		watch := store.Watch(ctx, "a")
		require.NoError(t, store.Append(t.Context(), "a", 0, "w", facts(0, 1)))
		grown(t, watch)
		require.NoError(t, store.Append(t.Context(), "a", 1, "w", facts(1, 1)))
		require.NoError(t, store.Close())
		cancel()
		assert.NoError(t, leaked(before))
		assert.Equal(t, 2, length(t, s.store(t), "a"))
	})
}

// drained takes what a watcher has not looked at.
func drained(watch <-chan struct{}) {
	select {
	case <-watch:
	default:
	}
}
