package river_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/postgres"
	"github.com/agonist-dev/debate/internal/stage/process"
	"github.com/agonist-dev/debate/store/sql"
	worker "github.com/agonist-dev/debate/worker/river"
)

// schema is that of River's tables, unless a test says otherwise.
const schema = "debate_river"

// shared is the server of all tests, which the first of them starts. Each test has a database of its own: a copy of an empty one with
// the tables.
var shared struct {
	start  sync.Once
	server *postgres.Server
	empty  string // its URL
	err    error
}

// place is an empty database. It travels to other processes as JSON.
type place struct {
	URL   string `json:"url"`
	Plain bool   `json:"plain"` // debates have no jobs, and Engine.Work works on them: figures are of both
}

func newPlace(t testing.TB) place {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	shared.start.Do(func() {
		if shared.server, shared.err = postgres.Start(ctx); shared.err != nil {
			return
		}
		if shared.empty, shared.err = shared.server.Database(ctx); shared.err == nil {
			shared.err = place{URL: shared.empty}.migrate(ctx)
		}
	})
	if missing, ok := errors.AsType[*postgres.MissingError](shared.err); ok {
		t.Skip(missing)
	}
	require.NoError(t, shared.err)
	u, err := shared.server.Copy(t.Context(), shared.empty)
	require.NoError(t, err)
	return place{URL: u}
}

// migrate makes the tables of both.
func (p place) migrate(ctx context.Context) error {
	b, err := p.open(ctx, worker.Options{})
	if err != nil {
		return err
	}
	return errors.Join(b.jobs.Migrate(ctx), b.close())
}

// base is what one process has open of a place.
type base struct {
	pool  *pgxpool.Pool
	store *sql.Store
	jobs  *worker.Jobs[pgx.Tx]
	close func() error
}

// open opens the place for one process.
func (p place) open(ctx context.Context, options worker.Options) (*base, error) {
	pool, err := pgxpool.New(ctx, p.URL+"&pool_max_conns=3&pool_min_conns=0")
	if err != nil {
		return nil, err
	}
	if options.Logger == nil {
		options.Logger = quiet
	}
	jobs, err := worker.New(riverpgxv5.New(pool), options)
	if err != nil {
		pool.Close()
		return nil, err
	}
	opening := sql.Options{Connections: 1}
	if !p.Plain {
		opening.OnWake = jobs.OnWake
	}
	s, err := opening.OpenPostgres(ctx, p.URL)
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &base{pool: pool, store: s, jobs: jobs, close: func() error {
		defer pool.Close()
		return s.Close()
	}}, nil
}

// opened opens the place for as long as the test runs.
func (p place) opened(t testing.TB, options worker.Options) *base {
	t.Helper()
	b, err := p.open(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.close()) })
	return b
}

// quiet drops all lines but errors.
var quiet = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError + 1}))

// client returns a client of River that inserts and lists, as an operator's program has one.
func (b *base) client(t testing.TB) *river.Client[pgx.Tx] {
	t.Helper()
	client, err := river.NewClient(riverpgxv5.New(b.pool), &river.Config{Schema: schema, Logger: quiet})
	require.NoError(t, err)
	return client
}

// of returns the newest job of a debate; nil: it has none.
func (b *base) of(t testing.TB, id string) *rivertype.JobRow {
	t.Helper()
	list, err := b.client(t).JobList(t.Context(), river.NewJobListParams().Kinds(worker.Args{}.Kind()).First(1).
		Where("args->>'id' = @debate", river.NamedArgs{"debate": id}).OrderBy(river.JobListOrderByID, river.SortOrderDesc))
	require.NoError(t, err)
	if len(list.Jobs) == 0 {
		return nil
	}
	return list.Jobs[0]
}

// state returns the state of the newest job of a debate.
func (b *base) state(t testing.TB, id string) rivertype.JobState {
	t.Helper()
	if job := b.of(t, id); job != nil {
		return job.State
	}
	return ""
}

// execute runs a statement.
func (b *base) execute(t testing.TB, statement string, args ...any) {
	t.Helper()
	_, err := b.pool.Exec(t.Context(), statement, args...)
	require.NoError(t, err)
}

// count counts rows of River's tables.
func (b *base) count(t testing.TB, from string) (n int) {
	t.Helper()
	require.NoError(t, b.pool.QueryRow(t.Context(), "SELECT count(*) FROM "+schema+"."+from).Scan(&n))
	return n
}

// rows returns how many jobs of debates are in each state.
func (b *base) rows(t testing.TB) map[string]int {
	t.Helper()
	rows, err := b.pool.Query(t.Context(), "SELECT state::text, count(*) FROM "+schema+".river_job WHERE kind = 'debate' GROUP BY state")
	require.NoError(t, err)
	counts := make(map[string]int)
	var state string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&state, &n}, func() error {
		counts[state] = n
		return nil
	})
	require.NoError(t, err)
	return counts
}

// soon are settings of River that do not wait in a test.
func soon() *river.Config {
	return &river.Config{FetchCooldown: 10 * time.Millisecond, FetchPollInterval: 100 * time.Millisecond, TestOnly: true}
}

func TestMain(m *testing.M) {
	process.Obey(order.serve)
	code := m.Run()
	if shared.server != nil {
		if err := shared.server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}
