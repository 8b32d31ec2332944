package sql_test

import (
	"context"
	stdsql "database/sql"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/agonist-dev/debate/internal/postgres"
	"github.com/agonist-dev/debate/store/sql"
)

// shared is the server of most tests, which is started when the first of them asks for it. Each test
// has a schema of its own.
var shared struct {
	start  sync.Once
	server *postgres.Server
	url    string
	err    error

	mu      sync.Mutex
	schemas int
}

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "4") // the tests wait more than they work; what the command line says comes after it
	code := m.Run()
	if shared.server != nil {
		if err := shared.server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if code == 0 {
		if err := leaked(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// leaked looks for goroutines that nobody ends. On a busy machine, some take their time to end.
func leaked(ignored ...goleak.Option) (err error) {
	for range 300 { // each look waits a little for them
		if err = goleak.Find(ignored...); err == nil {
			break
		}
	}
	return err
}

// eventually waits until a condition holds, however busy the machine is. What never holds is ended by go test's own timeout, which shows
// where the test waits.
func eventually(t testing.TB, is func() bool) {
	t.Helper()
	for !is() {
		<-time.After(time.Millisecond)
	}
}

// started returns a server, or skips the test where there is no PostgreSQL.
func started(t testing.TB, server *postgres.Server, err error) *postgres.Server {
	t.Helper()
	if missing, ok := errors.AsType[*postgres.MissingError](err); ok {
		t.Skip(missing)
	}
	require.NoError(t, err)
	return server
}

// newSchema returns the URL of an empty schema.
func newSchema(t testing.TB) string {
	t.Helper()
	shared.start.Do(func() {
		if shared.server, shared.err = postgres.Start(context.Background(), "max_connections=400"); shared.err == nil {
			shared.url, shared.err = shared.server.Database(context.Background())
		}
	})
	started(t, shared.server, shared.err)
	shared.mu.Lock()
	shared.schemas++
	name := fmt.Sprint("s", shared.schemas)
	shared.mu.Unlock()
	execute(t, "pgx", shared.url, "CREATE SCHEMA "+name)
	u := mustParse(t, shared.url)
	query := u.Query()
	query.Set("search_path", name)
	query.Set("synchronous_commit", "off") // these tests cut no power
	u.RawQuery = query.Encode()
	return u.String()
}

// execute runs a statement past any store.
func execute(t testing.TB, driver, name, statement string) {
	t.Helper()
	db, err := stdsql.Open(driver, name)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), statement)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

func mustParse(t testing.TB, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	require.NoError(t, err)
	return u
}

// storage is an empty database.
type storage struct {
	name   string
	driver string // of database/sql
	url    string // for the driver
	path   string // of SQLite's file
	open   func(ctx context.Context, options sql.Options) (*sql.Store, error)
}

// version is that of the tables.
func (s *storage) version() int {
	if s.driver == "pgx" {
		return sql.Version("postgres")
	}
	return sql.Version(s.driver)
}

// store opens one more handle for as long as the test runs.
func (s *storage) store(t testing.TB) *sql.Store {
	t.Helper()
	store, err := s.open(t.Context(), sql.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	return store
}

// execute runs a statement past any store.
func (s *storage) execute(t testing.TB, statement string) {
	t.Helper()
	execute(t, s.driver, s.url, statement)
}

// count returns how many rows a table has.
func (s *storage) count(t testing.TB, table string) (n int) {
	t.Helper()
	db, err := stdsql.Open(s.driver, s.url)
	require.NoError(t, err)
	require.NoError(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
	require.NoError(t, db.Close())
	return n
}

// block lets nobody write until release is called.
func (s *storage) block(t testing.TB) (release func()) {
	t.Helper()
	db, err := stdsql.Open(s.driver, s.url)
	require.NoError(t, err)
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	lock := "BEGIN IMMEDIATE"
	if s.driver == "pgx" {
		lock = "BEGIN; LOCK TABLE debate_commit, debate_lease"
	}
	_, err = conn.ExecContext(t.Context(), lock)
	require.NoError(t, err)
	once := sync.OnceFunc(func() {
		_, err := conn.ExecContext(context.WithoutCancel(t.Context()), "ROLLBACK")
		assert.NoError(t, err)
		assert.NoError(t, conn.Close())
		assert.NoError(t, db.Close())
	})
	t.Cleanup(once)
	return once
}

func newSQLite(t testing.TB) *storage {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a b?c#d%41.db") // none of this may mean anything
	open := func(ctx context.Context, options sql.Options) (*sql.Store, error) {
		return options.OpenSQLite(ctx, path)
	}
	return &storage{name: "SQLite", driver: "sqlite", url: "file:" + url.PathEscape(path), path: path, open: open}
}

func newPostgres(t testing.TB) *storage {
	t.Helper()
	u := newSchema(t)
	open := func(ctx context.Context, options sql.Options) (*sql.Store, error) {
		return options.OpenPostgres(ctx, u)
	}
	return &storage{name: "PostgreSQL", driver: "pgx", url: u, open: open}
}

// each runs a test on each database, beside other tests.
func each(t *testing.T, test func(t *testing.T, s *storage)) {
	t.Helper()
	t.Parallel()
	alone(t, func(t *testing.T, s *storage) {
		t.Parallel()
		test(t, s)
	})
}

// alone runs a test on each database, one after the other, while no other test runs.
func alone(t *testing.T, test func(t *testing.T, s *storage)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) { test(t, newSQLite(t)) })
	t.Run("PostgreSQL", func(t *testing.T) { test(t, newPostgres(t)) })
}
