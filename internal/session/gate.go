package session

import "context"

// gate is a lock that a caller can wait for no longer than its context lasts: the session that holds it may be
// writing to a slow store.
type gate struct {
	lock chan struct{}
	lost chan struct{} // closed when the store does not return to whoever holds the lock
	why  error         // set before lost is closed: why the session is closed
}

func newGate() gate { return gate{lock: make(chan struct{}, 1), lost: make(chan struct{})} }

// Lock waits as long as it takes.
func (g *gate) Lock() { g.lock <- struct{}{} }

// Unlock lets the next caller in.
func (g *gate) Unlock() { <-g.lock }

// enter is Lock for at most as long as ctx lasts. It returns the error of ctx, or why the session is closed once the lock is lost.
func (g *gate) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case g.lock <- struct{}{}:
		return nil
	case <-g.lost:
		return g.why
	case <-ctx.Done():
		return ctx.Err()
	}
}
