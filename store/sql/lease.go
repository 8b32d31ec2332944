package sql

import (
	"context"
	"time"

	"github.com/agonist-dev/debate"
)

// Lease implements [debate.Store], by the clock of the database: in PostgreSQL the server's, in SQLite
// this machine's.
func (s *Store) Lease(ctx context.Context, id, owner string, d time.Duration) error {
	if err := debate.CheckID(id); err != nil {
		return err
	}
	result, err := s.dialect.lend(ctx, s.lend, `
		INSERT INTO debate_lease (id, owner, until) VALUES ($1, $2, `+s.dialect.now+` + $3)
		ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, until = excluded.until
		WHERE debate_lease.owner = excluded.owner OR debate_lease.until <= `+s.dialect.now, id, plain(owner), d.Microseconds())
	if err != nil {
		return failed("lease", err)
	}
	if n, err := result.RowsAffected(); err != nil || n > 0 {
		return failed("lease", err)
	}
	return debate.ErrLeased
}

// Release implements [debate.Store].
func (s *Store) Release(ctx context.Context, id, owner string) error {
	if err := debate.CheckID(id); err != nil {
		return err
	}
	_, err := s.dialect.lend(ctx, s.lend, s.dialect.release, id, plain(owner))
	return failed("release", err)
}
