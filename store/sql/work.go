package sql

import (
	"context"
	stdsql "database/sql"
	"time"

	"github.com/jackc/pgx/v5"
)

// Announce implements [store.Announcer]. PostgreSQL announces work by NOTIFY; one connection of this store listens as long as
// Announce has a listener. In SQLite, what this store appends is announced at once. Changes by others are noticed within
// [Options.Poll]: the store checks whether the file has changed, and only then reads a counter.
func (s *Store) Announce(ctx context.Context) <-chan struct{} { return s.work.Listen(ctx) }

// Pauses between two attempts to listen to a server.
const (
	postgresRetry    = 100 * time.Millisecond
	postgresMaxRetry = 15 * time.Second
)

// postgresListen rings for each announcement until ctx ends. While the connection is lost, it tries to connect again.
func (s *Store) postgresListen(config *pgx.ConnConfig) func(ctx context.Context) {
	return func(ctx context.Context) {
		for pause := postgresRetry; ; pause = min(2*pause, postgresMaxRetry) {
			if s.postgresHear(ctx, config) {
				pause = postgresRetry
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return
			}
		}
	}
}

// postgresHear rings for each announcement until the connection is lost, and reports whether there was one. It begins with
// what may have happened before.
func (s *Store) postgresHear(ctx context.Context, config *pgx.ConnConfig) (connected bool) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	var schema string
	err = conn.QueryRow(ctx, `
		SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.oid = to_regclass('debate')`).Scan(&schema)
	if err != nil {
		return false
	}
	if _, err := conn.Exec(ctx, `LISTEN debate_work`); err != nil {
		return false
	}
	s.work.Ring()
	for {
		heard, err := conn.WaitForNotification(ctx)
		if err != nil {
			return true
		}
		if heard.Payload == schema {
			s.work.Ring()
		}
	}
}

// sqliteListen rings when the number of announcements has grown, until ctx ends.
func (s *Store) sqliteListen(ctx context.Context) {
	ticker := time.NewTicker(s.poll)
	defer ticker.Stop()
	l := &sqliteListener{db: s.read}
	defer l.close()
	for first := true; ; first = false {
		if l.changed(ctx) || first {
			s.work.Ring()
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// sqliteListener compares the file with what it was. Its connection sees what all others have changed, those of its own
// store too.
type sqliteListener struct {
	db        *stdsql.DB
	conn      *stdsql.Conn // nil: there is none
	version   int64
	announced int64
}

func (l *sqliteListener) changed(ctx context.Context) bool {
	changed, err := l.look(ctx)
	if err != nil {
		l.close() // another connection may work
	}
	return changed && err == nil
}

func (l *sqliteListener) look(ctx context.Context) (changed bool, err error) {
	if l.conn == nil {
		if l.conn, err = l.db.Conn(ctx); err != nil {
			return false, err
		}
		l.version = 0 // each connection counts for itself
	}
	var version, announced int64
	if err := l.conn.QueryRowContext(ctx, `PRAGMA data_version`).Scan(&version); err != nil || version == l.version {
		return false, err
	}
	if err := l.conn.QueryRowContext(ctx, `SELECT announced FROM debate_work`).Scan(&announced); err != nil {
		return false, err
	}
	changed = announced != l.announced
	l.version, l.announced = version, announced
	return changed, nil
}

func (l *sqliteListener) close() {
	if l.conn != nil {
		_ = l.conn.Close()
		l.conn = nil
	}
}
