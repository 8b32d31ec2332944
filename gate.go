package debate

import "context"

// gate is a lock that can be waited for no longer than a context lasts: whoever holds it may be
// writing to a store, and a store may be slow.
type gate chan struct{}

func newGate() gate { return make(gate, 1) }

// Lock waits as long as it takes.
func (g gate) Lock() { g <- struct{}{} }

// Unlock lets the next one in.
func (g gate) Unlock() { <-g }

// enter is Lock for at most as long as ctx lasts; its error is that of ctx.
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
