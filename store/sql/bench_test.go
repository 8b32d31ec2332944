package sql_test

import (
	"cmp"
	"context"
	stdsql "database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/sql"
)

// said is a turn of some length.
var said = strings.Repeat("nine words that are about as long as this one ", 40)

// bench is a store and, in a database of the same settings, the floor: a table in which each step is a row.
type bench struct {
	store *sql.Store
	floor *stdsql.Stmt
	rows  int64
}

func newBench(b *testing.B, s *storage, settings string) *bench {
	b.Helper()
	db, err := stdsql.Open(s.driver, settings)
	require.NoError(b, err)
	db.SetMaxOpenConns(1)
	b.Cleanup(func() { require.NoError(b, db.Close()) })
	_, err = db.ExecContext(b.Context(), `CREATE TABLE step (n bigint PRIMARY KEY, body text)`)
	require.NoError(b, err)
	if s.name == "SQLite" { // where the word decides
		_, err = db.ExecContext(b.Context(), `DROP TABLE step; CREATE TABLE step (n INTEGER PRIMARY KEY, body TEXT)`)
		require.NoError(b, err)
	}
	floor, err := db.PrepareContext(b.Context(), `INSERT INTO step (n, body) VALUES ($1, $2)`)
	require.NoError(b, err)
	return &bench{store: s.store(b), floor: floor}
}

// insert writes a step on the floor.
func (b *bench) insert(t *testing.B) {
	b.rows++
	_, err := b.floor.ExecContext(t.Context(), b.rows, said)
	require.NoError(t, err)
}

// benches runs a benchmark on each database, with commits that wait for the disk on both sides.
func benches(b *testing.B, run func(b *testing.B, bench *bench)) {
	b.Helper()
	b.Run("SQLite", func(b *testing.B) {
		values := url.Values{"_pragma": {"journal_mode(wal)", "synchronous(full)", "busy_timeout(10000)"}}
		run(b, newBench(b, newSQLite(b), "file:"+filepath.Join(b.TempDir(), "floor.db")+"?"+values.Encode()))
	})
	b.Run("PostgreSQL", func(b *testing.B) {
		s := newPostgres(b)
		u := mustParse(b, s.url)
		query := u.Query()
		query.Set("synchronous_commit", "on")
		u.RawQuery = query.Encode()
		durable := u.String()
		s.open = func(ctx context.Context, options sql.Options) (*sql.Store, error) {
			return options.OpenPostgres(ctx, durable)
		}
		run(b, newBench(b, s, durable))
	})
}

// BenchmarkOneWriter appends one step after the other.
//
//	x-floor  time of an append, as a multiple of that of an insert that is committed by itself
func BenchmarkOneWriter(b *testing.B) {
	benches(b, func(b *testing.B, bench *bench) {
		require.NoError(b, bench.store.Append(b.Context(), "a", 0, "w", start("t", nil)))
		var floor, store []time.Duration
		for seq := int64(1); b.Loop(); seq++ {
			began := time.Now()
			bench.insert(b)
			floor = append(floor, time.Since(began))
			began = time.Now()
			if err := bench.store.Append(b.Context(), "a", seq, "w", turn(seq+1, said)); err != nil {
				b.Fatal(err)
			}
			store = append(store, time.Since(began))
		}
		b.ReportMetric(0, "ns/op") // of both sides together: it says nothing
		b.ReportMetric(float64(middle(store).Microseconds()), "µs/step")
		b.ReportMetric(float64(middle(store))/float64(middle(floor)), "x-floor")
	})
}

// BenchmarkManyWriters appends to as many debates at once, one step after the other in each.
//
//	x-floor  steps in a second, as a multiple of inserts that are committed by themselves
func BenchmarkManyWriters(b *testing.B) {
	for _, writers := range []int{4, 16, 64, 1000} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			benches(b, func(b *testing.B, bench *bench) {
				each := max(2, 1000/writers)
				var floor, store []float64
				for round := 0; b.Loop(); round++ {
					began := time.Now()
					for range 50 {
						bench.insert(b)
					}
					floor = append(floor, 50/time.Since(began).Seconds())
					began = time.Now()
					var writing sync.WaitGroup
					for w := range writers {
						writing.Go(func() {
							for n := range int64(each) {
								if err := bench.store.Append(b.Context(), fmt.Sprint(round, "-", w), n, "w", turn(n+1, said)); err != nil {
									b.Error(err)
								}
							}
						})
					}
					writing.Wait()
					store = append(store, float64(writers*each)/time.Since(began).Seconds())
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(middle(store), "steps/s")
				b.ReportMetric(middle(store)/middle(floor), "x-floor")
			})
		})
	}
}

func middle[T cmp.Ordered](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}

// BenchmarkSum sums up 10,000 conversations of one tenant, half of which are over.
//
//	x-list  time of the sum, as a multiple of that of a list
func BenchmarkSum(b *testing.B) {
	benches(b, func(b *testing.B, bench *bench) {
		mine := map[string]string{"tenant": "acme"}
		const all, at = 10_000, 64
		var writers sync.WaitGroup
		for first := range at {
			writers.Go(func() {
				for i := first; i < all; i += at {
					state := []flow.State{flow.StateRunning, flow.StateCompleted}[i%2]
					ends := flow.Event{Seq: 2, At: time.Unix(2, 0), Body: &flow.Transition{To: state, Spent: flow.USD / 7}}
					if err := bench.store.Append(b.Context(), fmt.Sprintf("d%05d", i), 0, "w", append(start("t", mine), ends)); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		writers.Wait()
		var sums, lists []time.Duration
		for b.Loop() {
			began := time.Now()
			sum, err := store.SumOf(b.Context(), bench.store, store.Filter{Labels: mine})
			sums = append(sums, time.Since(began))
			require.NoError(b, err)
			require.Equal(b, all*(flow.USD/7), sum.Spent)
			began = time.Now()
			listed, err := store.SumList(b.Context(), bench.store, store.Filter{Labels: mine})
			lists = append(lists, time.Since(began))
			require.NoError(b, err)
			require.Equal(b, listed, sum)
		}
		b.ReportMetric(0, "ns/op") // of both sides together: it says nothing
		b.ReportMetric(float64(middle(sums).Microseconds()), "µs/sum")
		b.ReportMetric(float64(middle(sums))/float64(middle(lists)), "x-list")
	})
}
