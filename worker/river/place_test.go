package river_test

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // database/sql's driver
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // database/sql's driver

	"github.com/agonist-dev/debate/internal/postgres"
	"github.com/agonist-dev/debate/internal/stage/process"
	"github.com/agonist-dev/debate/store/sql"
	worker "github.com/agonist-dev/debate/worker/river"
)

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
	Postgres string `json:"postgres,omitempty"` // its URL
	SQLite   string `json:"sqlite,omitempty"`   // its file
}

func newPostgres(t testing.TB) place {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	shared.start.Do(func() {
		if shared.server, shared.err = postgres.Start(ctx); shared.err != nil {
			return
		}
		if shared.empty, shared.err = shared.server.Database(ctx); shared.err == nil {
			shared.err = place{Postgres: shared.empty}.migrate(ctx)
		}
	})
	if missing, ok := errors.AsType[*postgres.MissingError](shared.err); ok {
		t.Skip(missing)
	}
	require.NoError(t, shared.err)
	u, err := shared.server.Copy(t.Context(), shared.empty)
	require.NoError(t, err)
	return place{Postgres: u}
}

func newSQLite(t testing.TB) place {
	t.Helper()
	p := place{SQLite: filepath.Join(t.TempDir(), "debates.db")}
	require.NoError(t, p.migrate(t.Context()))
	return p
}

// each runs a test on each database, on both at once: it waits more than it works.
func each(t *testing.T, test func(t *testing.T, p place)) {
	t.Helper()
	var both sync.WaitGroup
	both.Go(func() { t.Run("SQLite", func(t *testing.T) { test(t, newSQLite(t)) }) })
	both.Go(func() { t.Run("PostgreSQL", func(t *testing.T) { test(t, newPostgres(t)) }) })
	both.Wait()
}

// base is what one process has open of a place.
type base struct {
	db     *stdsql.DB
	driver worker.Driver
	store  *sql.Store
	jobs   *worker.Jobs
	close  func() error
}

// database opens the place for River.
func (p place) database(ctx context.Context) (db *stdsql.DB, driver worker.Driver, closing func(), err error) {
	if p.SQLite != "" {
		name := (&url.URL{Scheme: "file", Path: p.SQLite, RawQuery: url.Values{
			"_pragma": {"journal_mode(wal)", "busy_timeout(10000)"}, "_txlock": {"immediate"},
		}.Encode()}).String()
		if db, err = stdsql.Open("sqlite", name); err != nil {
			return nil, nil, nil, err
		}
		db.SetMaxOpenConns(1)
		return db, riversqlite.New(db), func() { _ = db.Close() }, nil
	}
	if db, err = stdsql.Open("pgx", p.Postgres); err != nil {
		return nil, nil, nil, err
	}
	db.SetMaxOpenConns(2)
	listen, err := pgxpool.New(ctx, p.Postgres+"&pool_max_conns=1&pool_min_conns=0")
	if err != nil {
		return nil, nil, nil, errors.Join(err, db.Close())
	}
	return db, riverdatabasesql.NewWithPgxListener(db, listen), func() { listen.Close(); _ = db.Close() }, nil
}

// migrate makes the tables of both: first those of the store.
func (p place) migrate(ctx context.Context) error {
	b, err := p.open(ctx, worker.Options{})
	if err != nil {
		return err
	}
	return errors.Join(b.jobs.Migrate(ctx), b.close())
}

// open opens the place for one process.
func (p place) open(ctx context.Context, options worker.Options) (*base, error) {
	db, driver, closing, err := p.database(ctx)
	if err != nil {
		return nil, err
	}
	if options.Logger == nil {
		options.Logger = quiet
	}
	jobs, err := worker.New(db, driver, options)
	if err != nil {
		closing()
		return nil, err
	}
	kept := sql.Options{Connections: 1, OnWake: jobs.OnWake}
	var s *sql.Store
	if p.SQLite != "" {
		s, err = kept.OpenSQLite(ctx, p.SQLite)
	} else {
		s, err = kept.OpenPostgres(ctx, p.Postgres)
	}
	if err != nil {
		closing()
		return nil, err
	}
	return &base{db: db, driver: driver, store: s, jobs: jobs, close: func() error {
		defer closing()
		return s.Close()
	}}, nil
}

// client returns a client of River that only inserts.
func (b *base) client(t testing.TB) *river.Client[*stdsql.Tx] {
	t.Helper()
	client, err := river.NewClient(b.driver, &river.Config{Logger: quiet})
	require.NoError(t, err)
	return client
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

// rows returns how many jobs of debates are in each state.
func (b *base) rows(t testing.TB) map[string]int {
	t.Helper()
	rows, err := b.db.QueryContext(t.Context(), "SELECT state, count(*) FROM river_job WHERE kind = 'debate' GROUP BY state")
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	counts := make(map[string]int)
	for rows.Next() {
		var state string
		var n int
		require.NoError(t, rows.Scan(&state, &n))
		counts[state] = n
	}
	require.NoError(t, rows.Err())
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

// swept waits until the sweep with which a worker begins is over. It could take debates that end meanwhile for ones without a job.
func swept(t testing.TB, b *base) {
	t.Helper()
	eventually(t, "the first sweep is over", func() bool {
		var over, all int
		query := "SELECT count(*), coalesce(sum(CASE WHEN state = 'completed' THEN 1 ELSE 0 END), 0) FROM river_job WHERE kind = 'debate_sweep'"
		require.NoError(t, b.db.QueryRowContext(t.Context(), query).Scan(&all, &over))
		return all > 0 && all == over
	})
}
