package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// Lease implements [store.Store]. It uses the clock of the database: in PostgreSQL the server's, in
// SQLite this machine's. In SQLite, a lease also ends when its owner's process is gone.
func (s *Store) Lease(ctx context.Context, id, owner string, d time.Duration) error {
	if err := store.CheckID(id); err != nil {
		return err
	}
	acquire := func() (bool, error) {
		return s.lent(ctx, `
			INSERT INTO debate_lease (id, owner, until) VALUES ($1, $2, `+s.dialect.now+` + $3)
			ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, until = excluded.until
			WHERE debate_lease.owner = excluded.owner OR debate_lease.until <= `+s.dialect.now, id, plain(owner), d.Microseconds())
	}
	s.life.begin(ctx, id, plain(owner))
	taken, err := acquire()
	if err == nil && !taken {
		var over bool
		if over, err = s.bereave(ctx, id); over {
			taken, err = acquire()
		}
	}
	switch {
	case err != nil:
		return failed("lease", err)
	case !taken:
		s.life.end(id, plain(owner))
		s.wake.lost(id, owner)
		return flow.ErrLeased
	}
	s.wake.acquired(id, owner)
	return nil
}

// asks is how often a refused lease asks for its owner: somebody else may be asking too.
const asks = 3

// bereave ends all leases of the owner that has a conversation, if that owner's process is gone.
func (s *Store) bereave(ctx context.Context, id string) (over bool, err error) {
	if s.life == nil {
		return false, nil
	}
	var owner string
	err = s.transact(ctx, func(ctx context.Context) error {
		return s.read.QueryRowContext(ctx, `SELECT owner FROM debate_lease WHERE id = $1`, id).Scan(&owner)
	})
	if errors.Is(err, stdsql.ErrNoRows) { // it was released meanwhile
		return true, nil
	}
	if err != nil {
		return false, err
	}
	lock := s.life.dead(ctx, owner, asks)
	if lock == nil {
		return false, nil
	}
	_, err = s.lent(ctx, `DELETE FROM debate_lease WHERE owner = $1`, owner)
	bury(lock, err == nil) // an owner of that name that begins has waited until here
	return err == nil, err
}

// Release implements [store.Store].
func (s *Store) Release(ctx context.Context, id, owner string) error {
	if err := store.CheckID(id); err != nil {
		return err
	}
	s.wake.lost(id, owner)
	_, err := s.lent(ctx, s.dialect.release, id, plain(owner))
	if err == nil {
		s.life.end(id, plain(owner))
	}
	return failed("release", err)
}

// Time implements [store.Clock].
func (s *Store) Time(ctx context.Context) (time.Time, error) {
	var micros int64
	err := s.transact(ctx, func(ctx context.Context) error {
		_, err := first(ctx, s.reads(ctx), []any{&micros}, `SELECT `+s.dialect.now)
		return err
	})
	if err != nil {
		return time.Time{}, failed("time", err)
	}
	return time.UnixMicro(micros).UTC(), nil
}

// lent runs a statement on leases, and reports whether it has changed a row.
func (s *Store) lent(ctx context.Context, statement string, args ...any) (changed bool, err error) {
	if host := hostedBy(ctx); host != nil {
		n, err := guest{host, s}.exec(ctx, statement, args...)
		return n > 0, err
	}
	err = s.transact(ctx, func(ctx context.Context) error {
		n, err := s.dialect.lend(ctx, s.lend, statement, args...)
		changed = n > 0
		return err
	})
	return changed, err
}
