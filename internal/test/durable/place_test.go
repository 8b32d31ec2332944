package durable_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/postgres"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
	"github.com/agonist-dev/debate/store/sql"
)

// The kinds of places.
const (
	inFile     = "file"
	inSQLite   = "SQLite"
	inPostgres = "PostgreSQL"
)

func kinds() []string { return []string{inFile, inSQLite, inPostgres} }

// place is where debates are kept: every process can open it.
type place struct {
	Kind string `json:"kind"`
	At   string `json:"at"` // a folder, a file or a URL
}

// storage is a store as it is opened.
type storage interface {
	store.Store
	store.Watcher
	store.Clock
	io.Closer
}

func (p place) open(ctx context.Context) (storage, error) {
	switch p.Kind {
	case inFile:
		return file.Open(p.At)
	case inSQLite:
		return sql.OpenSQLite(ctx, p.At)
	case inPostgres:
		return sql.Options{Connections: 4}.OpenPostgres(ctx, p.At+"&application_name="+strconv.Itoa(os.Getpid()))
	default:
		return nil, fmt.Errorf("no place is called %q", p.Kind)
	}
}

// outlive waits until nothing of a process that is dead is under way: its last commit may still be on its way
// through a database's server.
func (p place) outlive(t testing.TB, dead int) {
	t.Helper()
	if p.Kind != inPostgres {
		return
	}
	conn, err := pgx.Connect(t.Context(), p.At)
	require.NoError(t, err)
	defer func() { assert.NoError(t, conn.Close(context.Background())) }()
	for left := 1; left > 0; {
		query := `SELECT count(*) FROM pg_stat_activity WHERE application_name = $1`
		require.NoError(t, conn.QueryRow(t.Context(), query, strconv.Itoa(dead)).Scan(&left))
		if left > 0 {
			require.NoError(t, stage.Sleep(t.Context(), 5*time.Millisecond))
		}
	}
}

// newPlace makes an empty place. The test is skipped if there is no such database on this machine.
func newPlace(t testing.TB, kind string) place {
	t.Helper()
	switch kind {
	case inFile:
		return place{kind, t.TempDir()}
	case inSQLite:
		return place{kind, filepath.Join(t.TempDir(), "debates.db")}
	default:
		server, err := cluster.start(t.Context())
		if missing, ok := errors.AsType[*postgres.MissingError](err); ok {
			t.Skip(missing)
		}
		require.NoError(t, err)
		url, err := server.Database(t.Context())
		require.NoError(t, err)
		return place{kind, url}
	}
}

// opened opens a place until the test is over.
func opened(t testing.TB, p place) storage {
	t.Helper()
	store, err := p.open(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	return store
}

// cluster is the PostgreSQL server of all tests, started by the first that needs it.
var cluster lazyServer

type lazyServer struct {
	mu     sync.Mutex
	server *postgres.Server
	err    error
}

func (l *lazyServer) start(ctx context.Context) (*postgres.Server, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.server == nil && l.err == nil {
		l.server, l.err = postgres.Start(ctx)
	}
	return l.server, l.err
}

func (l *lazyServer) stop() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.server == nil {
		return nil
	}
	return l.server.Stop()
}
