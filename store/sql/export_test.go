package sql

import (
	"context"
	stdsql "database/sql"
	"database/sql/driver"
	"fmt"
	"sync/atomic"

	"modernc.org/sqlite"

	"github.com/agonist-dev/debate/store"
)

// Pattern is exported for its tests.
var Pattern = pattern

// Migrate brings a database on with scripts for versions that there are not yet.
func (s *Store) Migrate(ctx context.Context, more ...string) error {
	scripts, err := migrations(s.dialect.name)
	if err != nil {
		return err
	}
	return migrate(ctx, s.write, s.dialect, append(scripts, more...))
}

// Looker returns what Announce does every so often in SQLite.
func (s *Store) Looker() (look func(ctx context.Context) bool, end func()) {
	l := &sqliteListener{db: s.read}
	look = func(ctx context.Context) bool {
		changed, _ := l.look(ctx)
		return changed
	}
	return look, l.close
}

// Counted counts the statements of SQLite's connections that read, from now on. The store is not used yet.
func (s *Store) Counted(path string, connections int) (*atomic.Int64, error) {
	connector, err := sqlite.NewConnector(sqliteName(path, nil, "busy_timeout(30000)", "query_only(1)"))
	if err != nil {
		return nil, err
	}
	counted := &countingConnector{Connector: connector}
	db := stdsql.OpenDB(counted)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	err = s.read.Close()
	s.read = db
	return &counted.statements, err
}

type countingConnector struct {
	driver.Connector

	statements atomic.Int64
}

func (c *countingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	return &countingConn{conn, &c.statements}, err
}

type countingConn struct {
	driver.Conn

	statements *atomic.Int64
}

func (c *countingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.statements.Add(1)
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

// Begin begins a transaction as the store does.
func (s *Store) Begin(ctx context.Context) (*stdsql.Tx, error) { return s.write.BeginTx(ctx, nil) }

// Synchronous tells how SQLite's connection that writes waits for the disk: 2 is FULL.
func (s *Store) Synchronous(ctx context.Context) (level int, err error) {
	err = s.write.QueryRowContext(ctx, `PRAGMA synchronous`).Scan(&level)
	return level, err
}

// Turn limits how long a process keeps writing to a file of SQLite.
type Turn struct{ turn turn }

// Begin is called before a transaction.
func (t *Turn) Begin(ctx context.Context) { t.turn.begin(ctx) }

// End is called after it.
func (t *Turn) End() { t.turn.end() }

// TurnLength and TurnRest are how long a process writes, and how long it then leaves the file to others.
const TurnLength, TurnRest = turnLength, turnRest

// Waiting tells how many appends are being written or wait to be.
func (s *Store) Waiting() int {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	return len(s.queue.steps) + len(s.queue.busy)
}

// Writing tells how many appends are being written.
func (s *Store) Writing() int {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	return len(s.queue.busy)
}

// Committers tells how many batches are written at once.
func (s *Store) Committers() int { return s.queue.limit }

// Version is that of the tables which this package makes.
func Version(dialect string) int { return len(Scripts(dialect)) }

// Scripts lead from an empty database to that version.
func Scripts(dialect string) []string {
	scripts, err := migrations(dialect)
	if err != nil {
		return nil
	}
	return scripts
}

// MaxPages lets SQLite's file have so many pages.
func (s *Store) MaxPages(ctx context.Context, pages int) error {
	_, err := s.write.ExecContext(ctx, fmt.Sprintf(`PRAGMA max_page_count = %d`, pages))
	return err
}

// DueQuery is the query by which a worker looks.
func (s *Store) DueQuery() string {
	filter := store.Filter{Due: true}
	return fmt.Sprintf("SELECT d.id FROM %s %s ORDER BY d.id LIMIT %d", s.joined(filter), s.conditions(filter, "", nil).where(), pageDue)
}
