package sql

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// transact runs a transaction within the store's timeout, and retries it while it fails only on account
// of concurrent transactions.
func (s *Store) transact(ctx context.Context, run func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.dialect.transact(ctx, run)
}

// pause bounds the wait before a transaction is retried. It must be shorter than [turnRest], or a waiting
// process may miss that time.
const pause = time.Millisecond

// transact retries a transaction until it no longer fails on account of concurrent ones, or ctx ends. What fails then says so: SQLite
// names a statement that ctx has broken off as interrupted, and nothing more.
func (d *dialect) transact(ctx context.Context, run func(ctx context.Context) error) error {
	for tried := 1; ; tried++ {
		err := run(ctx)
		switch ended := ctx.Err(); {
		case err == nil:
			return nil
		case ended != nil && !errors.Is(err, ended):
			return fmt.Errorf("%w: %w", ended, err)
		case !d.again(err, tried):
			return err
		}
		select {
		case <-time.After(rand.N(pause)): //nolint:gosec // no secret: transactions that have met should not meet again
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}
