package sql

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// transact runs a transaction within the store's timeout, and runs it again while it fails only because of others.
func (s *Store) transact(ctx context.Context, run func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.dialect.transact(ctx, run)
}

// pause is how long to wait at most before a transaction is tried again. A waiter should look more often than
// [turnRest], or it may miss the moment.
const pause = time.Millisecond

// transact runs a transaction until it does not fail because of others, or ctx ends.
func (d *dialect) transact(ctx context.Context, run func(ctx context.Context) error) error {
	for tried := 1; ; tried++ {
		err := run(ctx)
		if err == nil || !d.again(err, tried) {
			return err
		}
		select {
		case <-time.After(rand.N(pause)): //nolint:gosec // no secret: those who have met should not meet again
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}
