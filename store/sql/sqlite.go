package sql

import (
	"context"
	stdsql "database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// OpenSQLite opens a database file with default options; see [Options.OpenSQLite].
func OpenSQLite(ctx context.Context, path string) (*Store, error) {
	return Options{}.OpenSQLite(ctx, path)
}

// OpenSQLite opens a database file and migrates it to the present version, unless [Options].Migrate says otherwise. If the file is
// missing, it is created then, readable by its owner only. SQLite keeps two more files beside it, with the suffixes "-wal"
// and "-shm", and a file "-live-…" for each owner of leases, which proves that its process lives: the leases of one that is gone
// are over. All processes that have it open must run on one machine. A file that another program has made is left as
// it is: the error is a [*ForeignError]. Of a damaged file the error is [ErrDamaged].
func (o Options) OpenSQLite(ctx context.Context, path string) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, failed("open", err)
	}
	s, err := o.openSQLite(ctx, path)
	if err != nil {
		return nil, failed("open", err)
	}
	return s, nil
}

func (o Options) openSQLite(ctx context.Context, path string) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	access := url.Values{}
	switch {
	case o.ReadOnly:
		access, err = sqliteUnwritten(path)
	case o.Migrate == MigrateAuto:
		err = sqliteCreate(path)
	default:
		_, err = os.Stat(path)
	}
	if err != nil {
		return nil, err
	}
	// SQLite itself ignores contexts while it waits for another process's lock, so its own wait is short.
	write, err := sqlitePool(path, access, 1, "busy_timeout(5)", "synchronous(full)", "secure_delete(1)")
	if err != nil {
		return nil, err
	}
	read, err := sqlitePool(path, access, o.Connections+1, fmt.Sprintf("busy_timeout(%d)", o.Timeout.Milliseconds()), "query_only(1)")
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	w := &sqliteWriter{}
	s := &Store{
		later:   o.VacuumLater,
		dialect: w.dialect(), poll: o.Poll, timeout: o.Timeout, read: read, lend: write, write: write, wake: wake{call: o.OnWake},
		life: &life{path: path, mute: o.ReadOnly},
	}
	err = s.transact(ctx, func(ctx context.Context) error {
		if err := sqliteForeign(ctx, read); err != nil { // before anything is changed
			return err
		}
		if o.ReadOnly {
			return s.ready(ctx, MigrateCheck)
		}
		if err := walMode(ctx, write); err != nil {
			return err
		}
		return s.ready(ctx, o.Migrate)
	})
	if err == nil {
		err = w.prepare(ctx, write)
	}
	if err != nil {
		return nil, errors.Join(err, read.Close(), write.Close())
	}
	s.work.Source = s.sqliteListen(path)
	s.start(1)
	return s, nil
}

// sqliteUnwritten returns how a file is opened that is only read. SQLite reads a write-ahead log by another file beside it,
// which it would have to create. Without a log nothing of the kind is needed, or left behind.
func sqliteUnwritten(path string) (url.Values, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	access := url.Values{"mode": {"ro"}}
	if log, err := os.Stat(path + "-wal"); errors.Is(err, os.ErrNotExist) || err == nil && log.Size() == 0 {
		access.Set("immutable", "1")
	}
	return access, nil
}

// sqliteCreate creates an empty file that only its owner can read, if there is none; SQLite gives the two
// other files the same mode. It never opens a file under its final name. Closing such a file would drop
// the locks that SQLite has on it in this process (fcntl(2)), on which other processes rely.
func sqliteCreate(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-new-*") // with the mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	if err := file.Close(); err != nil {
		return err
	}
	if err := os.Link(file.Name(), path); err == nil {
		return nil
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return err // another process was faster
	}
	// Not every file system supports links. Without them, two processes that create the file at once may
	// meet, and one may lose its locks.
	if file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return err
	}
	return file.Close()
}

// sqlitePool opens a file.
func sqlitePool(path string, access url.Values, connections int, pragmas ...string) (*stdsql.DB, error) {
	connector, err := sqlite.NewConnector(sqliteName(path, access, pragmas...))
	if err != nil {
		return nil, err
	}
	db := stdsql.OpenDB(connector)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// sqliteName returns the name of a file for SQLite, with the pragmas of every connection to it.
func sqliteName(path string, access url.Values, pragmas ...string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a path of Windows begins with a drive
	}
	values := url.Values{
		"_pragma": append(pragmas, "journal_size_limit(67108864)"), // it shrinks again once a long reader has gone
		"_txlock": {"immediate"},
	}
	maps.Copy(values, access)
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: values.Encode()}).String()
}

// walMode turns on the write-ahead log, which is a setting of the file.
func walMode(ctx context.Context, db *stdsql.DB) error {
	var mode string
	if err := db.QueryRowContext(ctx, `PRAGMA journal_mode = wal`).Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("SQLite cannot have a write-ahead log here: the journal's mode is %q", mode)
	}
	return nil
}

// sqliteCode returns the primary result code of an error, 0 if it is not SQLite's.
func sqliteCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// sqliteMeaning returns what an error of SQLite means to those who know the file; nil: no more than it says.
func sqliteMeaning(err error) error {
	switch sqliteCode(err) {
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		return ErrDamaged
	case codes.SQLITE_READONLY, codes.SQLITE_PERM, codes.SQLITE_CANTOPEN: // the file exists: openSQLite has seen to that
		return fs.ErrPermission
	case codes.SQLITE_ERROR:
		if text := err.Error(); strings.Contains(text, "no such table: debate") || strings.Contains(text, "no such column") ||
			strings.Contains(text, "no column named") || strings.Contains(text, "no such index: debate") {
			return errOlder
		}
		return nil
	default:
		return nil
	}
}

// sqliteForeign returns a ForeignError if a file is another program's. One that this library has made has a table of versions
// from its first transaction on.
func sqliteForeign(ctx context.Context, db *stdsql.DB) error {
	var foreign ForeignError
	err := db.QueryRowContext(ctx, `
		SELECT coalesce((SELECT name FROM sqlite_schema ORDER BY type <> 'table', name LIMIT 1), ''), application_id
		FROM pragma_application_id
		WHERE NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'debate_version')`).Scan(&foreign.Table, &foreign.Application)
	switch {
	case errors.Is(err, stdsql.ErrNoRows), err == nil && foreign == ForeignError{}:
		return nil
	case err != nil:
		return err
	default:
		return &foreign
	}
}

// sqliteWriter holds the statements of the connection that writes.
type sqliteWriter struct {
	prepared map[string]*stdsql.Stmt // by their texts
	turn     turn
}

func (w *sqliteWriter) dialect() *dialect {
	return &dialect{
		name: "sqlite",
		now:  sqliteNow,
		like: "LIKE",
		json: func(column string, path ...string) string {
			return fmt.Sprintf("json_extract(nullif(%s, ''), '$.%s')", column, strings.Join(path, "."))
		},
		began: sqliteNow,
		due: "(d.due > 0 OR " + working + ") AND d.due <= " + sqliteNow +
			" AND (d.due = 0 OR d.state NOT IN ('completed', 'canceled'))",
		dueIndex:  "INDEXED BY debate_due",
		ends:      `SELECT id, no, seq FROM debate WHERE id IN (SELECT value FROM json_each($1))`,
		release:   `DELETE FROM debate_lease WHERE id = $1 AND owner = $2`,
		versioned: `SELECT count(*) FROM sqlite_schema WHERE name = 'debate_version'`,
		lock:      `SELECT 1`, // every transaction of this connection begins with the lock
		write:     w.write,
		add:       sqliteAdd,
		begin: func(ctx context.Context, db *stdsql.DB) (*stdsql.Tx, error) {
			return db.BeginTx(ctx, nil)
		},
		alone: func(ctx context.Context, db *stdsql.DB, statement string, args ...any) (int64, error) {
			return standard{db}.exec(ctx, statement, args...)
		},
		turn: func(ctx context.Context) func() {
			w.turn.begin(ctx)
			return w.turn.end
		},
		rewrite: `UPDATE debate_commit SET body = $2, result = NULL WHERE key = $1`, // a trigger has read the result
		purge:   sqlitePurge,
		vacuum:  []string{"VACUUM"},
		lend:    w.lend,
		again: func(err error, _ int) bool {
			return sqliteCode(err) == codes.SQLITE_BUSY // nothing was written: a transaction that has begun has the lock
		},
		single: func(err error) bool {
			switch sqliteCode(err) {
			case codes.SQLITE_ERROR, codes.SQLITE_CORRUPT, codes.SQLITE_TOOBIG, codes.SQLITE_CONSTRAINT, codes.SQLITE_MISMATCH, codes.SQLITE_RANGE:
				return true
			default:
				return false
			}
		},
	}
}

// sqlitePurge writes the write-ahead log to the file, and empties it. It waits for those who read.
func sqlitePurge(ctx context.Context, db *stdsql.DB) error {
	for held := false; ; {
		var busy, pages, written int
		err := db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &written)
		if err == nil && busy == 0 {
			return nil
		}
		if err == nil {
			held = true
			select {
			case <-time.After(sqlitePause):
				continue
			case <-ctx.Done():
				err = ctx.Err()
			}
		}
		if held && ctx.Err() != nil {
			return fmt.Errorf("somebody reads the database: the write-ahead log still holds what was removed: %w", err)
		}
		return err
	}
}

// sqlitePause is the pause before the write-ahead log is emptied again.
const sqlitePause = 10 * time.Millisecond

const (
	// sqliteNow is the clock of this machine.
	sqliteNow = `CAST(unixepoch('subsec') * 1000000 AS INTEGER)`

	// sqliteBegin makes the row of a conversation.
	sqliteBegin = `
		INSERT INTO debate (id, seq, at, started, state, round, result, about) VALUES ($1, 0, '', $2, '', 0, '', $3)
		ON CONFLICT (id) DO NOTHING`

	// sqliteExtend appends one step to a log. If the log ends elsewhere, last is NULL, which the table refuses. INSERT … SELECT
	// would be slower: if there are triggers, SQLite first writes the rows to a temporary table.
	sqliteExtend = `
		INSERT OR IGNORE INTO debate_commit (key, last, at, state, round, writer, body, result, since, asked, wake) VALUES (
			(SELECT no * 4294967296 + $2 FROM debate WHERE id = $1),
			(SELECT $3 FROM debate WHERE id = $1 AND seq = $2),
			$4, $5, $6, $7, $8, $9, $10, $11, $12)`
)

func (w *sqliteWriter) prepare(ctx context.Context, db *stdsql.DB) error {
	w.prepared = make(map[string]*stdsql.Stmt)
	for _, text := range []string{sqliteBegin, sqliteExtend, tell, limit, label} {
		statement, err := db.PrepareContext(ctx, text) //nolint:sqlclosecheck // closed with db
		if err != nil {
			return err
		}
		w.prepared[text] = statement
	}
	return nil
}

// sqliteTx runs the writer's prepared statements in a transaction.
type sqliteTx struct {
	standard

	tx     *stdsql.Tx
	writer *sqliteWriter
}

func (t sqliteTx) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	return changed(t.tx.StmtContext(ctx, t.writer.prepared[statement]).ExecContext(ctx, args...)) //nolint:sqlclosecheck // closed with tx
}

// write writes steps. Most are single statements, each a transaction by itself.
func (w *sqliteWriter) write(ctx context.Context, db *stdsql.DB, steps []*step) error {
	w.turn.begin(ctx)
	defer w.turn.end()
	if err := ctx.Err(); err != nil {
		return err
	}
	// SQLite waits only for the disk and, for a moment, for other processes. Watching a context would
	// take longer than the statement.
	ctx = context.WithoutCancel(ctx)
	if len(steps) == 1 && steps[0].after > 0 && steps[0].begun == nil && steps[0].limit == nil {
		n, err := changed(w.prepared[sqliteExtend].ExecContext(ctx, sqliteRow(steps[0])...))
		steps[0].kept = n > 0
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	on, kept := sqliteTx{standard{tx}, tx, w}, make([]bool, len(steps))
	for i, s := range steps {
		if kept[i], err = sqliteAdd(ctx, on, s); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	for i, s := range steps {
		s.kept = kept[i]
	}
	return nil
}

// sqliteAdd writes a step in a transaction.
func sqliteAdd(ctx context.Context, on statements, s *step) (kept bool, err error) {
	if s.after == 0 {
		started, about := s.columns()
		if _, err := on.exec(ctx, sqliteBegin, s.id, started, about); err != nil {
			return false, err
		}
	}
	n, err := on.exec(ctx, sqliteExtend, sqliteRow(s)...)
	if err == nil && n > 0 && s.limit != nil && (s.after > 0 || *s.limit != 0) { // a new row has none
		_, err = on.exec(ctx, limit, s.id, *s.limit)
	}
	if err != nil || n == 0 || s.begun == nil {
		return n > 0, err
	}
	return true, s.describe(ctx, on, s.after == 0)
}

// sqliteRow returns the columns of a step.
func sqliteRow(s *step) []any {
	return []any{s.id, s.after, s.last, s.at, s.state, s.round, s.writer, s.body, s.result, s.since, s.asked, s.wake}
}

// lend does not wait for the disk. The owner of a lease runs on this machine: an event that loses
// unsynced data, such as a power cut, ends the owner too.
func (w *sqliteWriter) lend(ctx context.Context, db *stdsql.DB, statement string, args ...any) (int64, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	ctx = context.WithoutCancel(ctx) // as in write
	if _, err := conn.ExecContext(ctx, `PRAGMA synchronous = normal`); err != nil {
		return 0, err
	}
	defer func() {
		if _, backErr := conn.ExecContext(ctx, `PRAGMA synchronous = full`); backErr != nil {
			// The next user gets a new connection, which waits for the disk as required.
			_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		}
	}()
	return changed(conn.ExecContext(ctx, statement, args...))
}
