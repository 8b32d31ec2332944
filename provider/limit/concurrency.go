package limit

import (
	"context"
	"sync"

	"github.com/agonist-dev/debate/provider"
)

// Concurrency caps the number of calls in flight, over all the providers that it wraps. When a call ends,
// with a reply, a failure or a panic, the first call in the queue gets its place.
//
// The fields must not change after the first request. From then on, a Concurrency is safe for concurrent
// use. It must not be copied.
type Concurrency struct {
	// Calls is how many calls may be in flight at once. If it is less than 1, it is 1, the strictest
	// limit: a limit without a number must not be exceeded.
	Calls int

	mu     sync.Mutex
	inside int
	line   queue // empty unless all places are taken
}

// ConcurrencyStatus is the state of a [Concurrency].
type ConcurrencyStatus struct {
	Calls    int // how many may be in flight at once
	Waiting  int
	InFlight int
}

// Wrap returns p with this limit. It may be called at any time.
func (c *Concurrency) Wrap(p provider.Provider) *Capped {
	return &Capped{Provider: p, Concurrency: c}
}

// Status returns the present state.
func (c *Concurrency) Status() ConcurrencyStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	return ConcurrencyStatus{Calls: max(1, c.Calls), Waiting: c.line.len(), InFlight: c.inside}
}

// enter waits for a place.
func (c *Concurrency) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return ended(err)
	}
	c.mu.Lock()
	if c.inside < max(1, c.Calls) {
		c.inside++
		c.mu.Unlock()
		return nil
	}
	w := c.line.join(0)
	c.mu.Unlock()

	err := w.wait(ctx)
	if err == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.line.leave(w) {
		c.free()
	}
	return ended(err)
}

// leave frees the place of a call.
func (c *Concurrency) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free()
}

// free gives a free place to the call that has waited longest. The lock is held.
func (c *Concurrency) free() {
	if w := c.line.head(); w != nil {
		c.line.admit(w)
		return
	}
	c.inside--
}
