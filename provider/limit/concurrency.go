package limit

import (
	"context"
	"sync"

	"github.com/agonist-dev/debate/provider"
)

// Concurrency lets a number of calls run at once, over all the providers that it wraps. A call that has to
// wait gets the place of the first one that ends: with a reply, a failure or a panic.
//
// The fields must not change once the first request is made; after that, a Concurrency is safe for concurrent
// use. It must not be copied.
type Concurrency struct {
	// Calls is how many calls may run at once; 1 if it is less: who sets a limit without a number gets the
	// one that nothing can overstep.
	Calls int

	mu     sync.Mutex
	inside int
	line   queue // empty unless all places are taken
}

// ConcurrencyStatus is where a [Concurrency] stands.
type ConcurrencyStatus struct {
	Calls    int // how many may run at once
	Waiting  int
	InFlight int
}

// Wrap yields p, limited. It may be called at any time.
func (c *Concurrency) Wrap(p provider.Provider) *Capped {
	return &Capped{Provider: p, Concurrency: c}
}

// Status tells where it stands at this moment.
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

// leave gives a place back.
func (c *Concurrency) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free()
}

// free hands a place to who waits longest. The lock is held.
func (c *Concurrency) free() {
	if w := c.line.head(); w != nil {
		c.line.admit(w)
		return
	}
	c.inside--
}
