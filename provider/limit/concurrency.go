package limit

import (
	"context"
	"sync"
	"time"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/ended"
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

	// Ledger makes this Concurrency one of several that share their places, on any number of machines: those with the
	// same Name, see [Ledger]. Calls should be equal for all of them. Machines that want more places than there are get
	// equal parts. If there are fewer places than machines, the machines take turns. A free place
	// reaches another machine within about half a second.
	//
	// If the ledger fails, calls start in the places that the machine has, until its lease ends. When the ledger has
	// failed for 10 seconds, waiting calls fail with kind network and NotSent set.
	Ledger Ledger
	// Name is the name under which a Ledger keeps the places. It must not hold a key.
	Name string
	// Lease is how long the places of a machine that has died, or cannot reach the ledger, stay taken; DefaultLease if
	// it is not above 0. Calls in flight do not end with the lease. Lease should be equal on all machines.
	Lease time.Duration

	mu      sync.Mutex
	inside  int
	line    queue   // empty unless all places are taken
	rented  *rented // nil: without a ledger, or no call has come yet
	brokers sync.WaitGroup
	closed  bool
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
	return ConcurrencyStatus{Calls: c.calls(), Waiting: c.line.len(), InFlight: c.inside}
}

// Close returns the places to the Ledger, and ends the goroutine that speaks to it. Call it after the last call has
// ended; calls that wait fail, and so do later ones, with kind network. It takes three seconds at most. Without a
// Ledger, Close does nothing.
func (c *Concurrency) Close() {
	if c.Ledger == nil {
		return
	}
	c.mu.Lock()
	c.closed = true
	if c.rented != nil {
		c.line.fail(unreachable(c.Name, errClosed))
		c.rented.broker.close()
	}
	c.mu.Unlock()
	c.brokers.Wait()
}

func (c *Concurrency) calls() int { return max(1, c.Calls) }

func (c *Concurrency) lease() time.Duration {
	if c.Lease > 0 {
		return c.Lease
	}
	return DefaultLease
}

// enter waits for a place.
func (c *Concurrency) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return ended.Unsent(err)
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return unreachable(c.Name, errClosed)
	}
	if c.Ledger != nil && c.rented == nil {
		c.rented = newRented(c)
	}
	if c.line.len() == 0 && c.inside < c.rented.places(time.Now(), c.calls()) {
		c.inside++
		c.mu.Unlock()
		return nil
	}
	w := c.line.join(0)
	c.rented.wake()
	c.mu.Unlock()

	err := w.wait(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case w.failed != nil:
		return w.failed
	case err == nil:
		return nil
	}
	if !c.line.leave(w) {
		c.free()
	}
	return ended.Unsent(err)
}

// try is enter for a call that does not wait for other calls.
func (c *Concurrency) try(ctx context.Context) error {
	c.mu.Lock()
	full := c.line.len() > 0 || c.Ledger == nil && c.inside >= c.calls()
	c.mu.Unlock()
	return soon(ctx, full, c.enter)
}

// leave frees the place of a call.
func (c *Concurrency) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free()
}

// free frees a place. The lock is held.
func (c *Concurrency) free() {
	c.inside--
	c.advance(time.Now())
	c.rented.wake()
}

// advance gives places that are free to the calls that have waited longest. The lock is held.
func (c *Concurrency) advance(now time.Time) {
	places := c.rented.places(now, c.calls())
	for w := c.line.head(); w != nil && c.inside < places; w = c.line.head() {
		c.inside++
		c.line.admit(w)
	}
}
