package sql_test

import (
	"context"
	stdsql "database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/store/sql"
)

type pairing struct {
	name  string
	store *sql.Store
	bare  *stdsql.DB
	stmt  *stdsql.Stmt
}

func pairings(b *testing.B) []*pairing {
	var out []*pairing
	{
		s, err := sql.OpenSQLite(b.Context(), filepath.Join(b.TempDir(), "a.db"))
		require.NoError(b, err)
		db, err := stdsql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "b.db")+"?_pragma=synchronous(full)&_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)")
		require.NoError(b, err)
		db.SetMaxOpenConns(1)
		_, err = db.Exec("CREATE TABLE step (n INTEGER PRIMARY KEY, body TEXT)")
		require.NoError(b, err)
		out = append(out, &pairing{"sqlite", s, db, nil})
	}
	{
		url := newSchema(b)
		var err error
		require.NoError(b, err)
		s, err := sql.OpenPostgres(b.Context(), url)
		require.NoError(b, err)
		db, err := stdsql.Open("pgx", url)
		require.NoError(b, err)
		db.SetMaxOpenConns(1)
		_, err = db.Exec("CREATE TABLE step (n bigint PRIMARY KEY, body text)")
		require.NoError(b, err)
		out = append(out, &pairing{"postgres", s, db, nil})
	}
	for _, p := range out {
		var err error
		p.stmt, err = p.bare.Prepare("INSERT INTO step (n, body) VALUES ($1, $2)")
		require.NoError(b, err)
		b.Cleanup(func() { p.store.Close(); p.bare.Close() })
	}
	return out
}

var text = strings.Repeat("abcdefgh ", 220)

func BenchmarkSingle(b *testing.B) {
	for _, p := range pairings(b) {
		b.Run(p.name, func(b *testing.B) {
			ctx := context.Background()
			body := strings.Repeat("abcdefgh ", 235)
			var floor, ours []float64
			var key, seq int64
			id := fmt.Sprint("d", time.Now().UnixNano())
			for b.Loop() {
				began := time.Now()
				for range 1 {
					key++
					_, err := p.stmt.Exec(time.Now().UnixNano(), body)
					require.NoError(b, err)
				}
				floor = append(floor, float64(time.Since(began).Microseconds())/1)
				began = time.Now()
				for range 1 {
					require.NoError(b, p.store.Append(ctx, id, seq, "w", []debate.Event{turn(seq+1, text)[0]}))
					seq++
				}
				ours = append(ours, float64(time.Since(began).Microseconds())/1)
			}
			b.ReportMetric(middle(floor), "floor-us")
			b.ReportMetric(middle(ours), "us")
			b.ReportMetric(middle(ours)/middle(floor), "x-floor")
		})
	}
}

func BenchmarkMany(b *testing.B) {
	for _, p := range pairings(b) {
		for _, writers := range []int{2, 4, 16, 64, 1000} {
			b.Run(fmt.Sprint(p.name, "/", writers), func(b *testing.B) {
				ctx := context.Background()
				body := strings.Repeat("abcdefgh ", 235)
				var floor, ours []float64
				seqs := make([]int64, writers)
				prefix := fmt.Sprint("d", time.Now().UnixNano())
				for b.Loop() {
					began := time.Now()
					for range 50 {
						_, err := p.stmt.Exec(time.Now().UnixNano(), body)
						require.NoError(b, err)
					}
					floor = append(floor, 50/time.Since(began).Seconds())
					began = time.Now()
					var wg sync.WaitGroup
					n := max(1, 500/writers)
					for w := range writers {
						wg.Go(func() {
							for range n {
								if err := p.store.Append(ctx, fmt.Sprint(prefix, w), seqs[w], "w", []debate.Event{turn(seqs[w]+1, text)[0]}); err != nil {
									b.Error(err)
								}
								seqs[w]++
							}
						})
					}
					wg.Wait()
					ours = append(ours, float64(n*writers)/time.Since(began).Seconds())
				}
				b.ReportMetric(middle(floor), "floor/s")
				b.ReportMetric(middle(ours), "/s")
				b.ReportMetric(middle(ours)/middle(floor), "x-floor")
			})
		}
	}
}

func middle(v []float64) float64 { slices.Sort(v); return v[len(v)/2] }
