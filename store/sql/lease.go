package sql

import (
	"context"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// Lease implements [store.Store]. It uses the clock of the database: in PostgreSQL the server's, in
// SQLite this machine's.
func (s *Store) Lease(ctx context.Context, id, owner string, d time.Duration) error {
	if err := store.CheckID(id); err != nil {
		return err
	}
	taken, err := s.lent(ctx, `
		INSERT INTO debate_lease (id, owner, until) VALUES ($1, $2, `+s.dialect.now+` + $3)
		ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, until = excluded.until
		WHERE debate_lease.owner = excluded.owner OR debate_lease.until <= `+s.dialect.now, id, plain(owner), d.Microseconds())
	if err == nil && !taken {
		s.wake.lost(id, owner)
		return flow.ErrLeased
	}
	if err == nil {
		s.wake.acquired(id, owner)
	}
	return failed("lease", err)
}

// Release implements [store.Store].
func (s *Store) Release(ctx context.Context, id, owner string) error {
	if err := store.CheckID(id); err != nil {
		return err
	}
	s.wake.lost(id, owner)
	_, err := s.lent(ctx, s.dialect.release, id, plain(owner))
	return failed("release", err)
}

// Time implements [store.Clock].
func (s *Store) Time(ctx context.Context) (time.Time, error) {
	var micros int64
	err := s.transact(ctx, func(ctx context.Context) error {
		return s.read.QueryRowContext(ctx, `SELECT `+s.dialect.now).Scan(&micros)
	})
	if err != nil {
		return time.Time{}, failed("time", err)
	}
	return time.UnixMicro(micros).UTC(), nil
}

// lent runs a statement on leases, and reports whether it has changed a row.
func (s *Store) lent(ctx context.Context, statement string, args ...any) (changed bool, err error) {
	err = s.transact(ctx, func(ctx context.Context) error {
		result, err := s.dialect.lend(ctx, s.lend, statement, args...)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		changed = n > 0
		return err
	})
	return changed, err
}
