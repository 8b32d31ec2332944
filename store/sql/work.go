package sql

import (
	"context"
	stdsql "database/sql"
	"os"
	"time"
)

// Announce implements [store.Announcer]. PostgreSQL announces work by NOTIFY; one connection of this store listens as long as
// Announce or Watch has a listener. In SQLite, what this store appends is announced at once. Changes by others are noticed as those
// of watched logs are, see [Options.Poll].
func (s *Store) Announce(ctx context.Context) <-chan struct{} { return s.work.Listen(ctx) }

// sqliteListen rings when the number of announcements has grown, and looks at the watched logs when a file has changed, until ctx
// ends.
func (s *Store) sqliteListen(path string) func(ctx context.Context) {
	return func(ctx context.Context) {
		ticker := time.NewTicker(s.poll)
		defer ticker.Stop()
		l := &sqliteListener{db: s.read, log: path + "-wal"}
		defer l.close()
		for first := true; ; first = false {
			changed, announced := l.look(ctx)
			if announced || first {
				s.work.Ring()
			}
			if changed || s.watch.behind.Load() {
				s.lookAtAll(ctx)
			}
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
		}
	}
}

// sqliteListener compares the file with what it was. Its connection sees what all others have changed, those of its own
// store too.
type sqliteListener struct {
	db        *stdsql.DB
	log       string       // the write-ahead log
	written   stamp        // of that, at the last look
	quiet     bool         // the last look has asked the database, and nothing had changed
	conn      *stdsql.Conn // nil: there is none
	version   int64
	announced int64
}

// stamp changes when a file is written to, unless the file system's clock is too coarse, or it tells only when the file is closed.
type stamp struct {
	size int64
	at   time.Time
}

func stampOf(path string) (s stamp) {
	if info, err := os.Stat(path); err == nil {
		s = stamp{info.Size(), info.ModTime()}
	}
	return s
}

// look reports whether the tables have changed, and the announcements among them. It asks the database if the write-ahead log has another
// stamp, and else every second time: a stamp may stay the same.
func (l *sqliteListener) look(ctx context.Context) (changed, announced bool) {
	before := l.written
	l.written = stampOf(l.log)
	if l.written == before && l.quiet {
		l.quiet = false
		return false, false
	}
	changed, announced, err := l.ask(ctx)
	if err != nil {
		l.close() // another connection may work
	}
	l.quiet = err == nil && !changed
	return changed, announced
}

func (l *sqliteListener) ask(ctx context.Context) (changed, announced bool, err error) {
	if l.conn == nil {
		if l.conn, err = l.db.Conn(ctx); err != nil {
			return false, false, err
		}
		l.version = 0 // each connection counts for itself
	}
	var version, count int64
	if err := l.conn.QueryRowContext(ctx, `PRAGMA data_version`).Scan(&version); err != nil || version == l.version {
		return false, false, err
	}
	if err := l.conn.QueryRowContext(ctx, `SELECT announced FROM debate_work`).Scan(&count); err != nil {
		return false, false, err
	}
	announced = count != l.announced
	l.version, l.announced = version, count
	return true, announced, nil
}

func (l *sqliteListener) close() {
	if l.conn != nil {
		_ = l.conn.Close()
		l.conn = nil
	}
}
