package session

import "context"

// gate is a lock that a caller can wait for no longer than its context lasts: the session that holds it may be
// writing to a slow store.
type gate chan struct{}

func newGate() gate { return make(gate, 1) }

// Lock waits as long as it takes.
func (g gate) Lock() { g <- struct{}{} }

// Unlock lets the next caller in.
func (g gate) Unlock() { <-g }

// enter is Lock for at most as long as ctx lasts. It returns the error of ctx.
func (g gate) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
