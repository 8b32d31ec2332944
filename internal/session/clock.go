package session

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// clockSlack is how far the clock of a process may be from the store's before it is corrected. It is more than the time of an
// answer is uncertain by where a file system tells it (FAT keeps two seconds), and less than anybody limits a debate to.
const clockSlack = 3 * time.Second

// clock tells the time of the store, if the store has a clock: the processes that work on a conversation share it, whatever their own
// clocks say. Else it tells the time of this process. The owner of a lease counts from there by a stopwatch.
type clock struct {
	known atomic.Pointer[moment] // nil: the store was not asked yet
	mu    sync.Mutex
	asked time.Time // when the store was asked last
}

// moment is one moment by two clocks.
type moment struct {
	here  time.Time // by that of the process
	there time.Time // by that of the store, or by one that differs from it by no more than clockSlack
}

// later returns what the store's clock shows when that of the process shows now. Between two answers of the store only the
// monotonic clock counts, which nobody sets.
func (m *moment) later(now time.Time) time.Time { return m.there.Add(now.Sub(m.here)) }

func (c *clock) now() time.Time { return c.at(time.Now()) }

// at returns what the clock shows when that of the process shows now.
func (c *clock) at(now time.Time) time.Time {
	if known := c.known.Load(); known != nil {
		return known.later(now)
	}
	return now.Round(0).UTC()
}

// due reports whether the store is to be asked: it never has answered, or the last time was long ago, or the clock of the wall
// has been set since then, or the machine has slept.
func (c *clock) due(now time.Time, every time.Duration) bool {
	if c.known.Load() == nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	passed, wall := now.Sub(c.asked), now.Round(0).Sub(c.asked.Round(0))
	if passed < every && (wall-passed).Abs() <= clockSlack {
		return false
	}
	c.asked = now // nobody else needs to ask meanwhile
	return true
}

// askAgain has the next lease ask the store, however soon that is: this time it has not answered, and its answer is what is counted from.
func (c *clock) askAgain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = time.Time{}
}

// learn takes in what the store's clock has shown at some moment between two of this process. Only what cannot be explained by
// the time between them, and the slack, changes anything: small errors of the answers must not add up.
func (c *clock) learn(before, after, there time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.known.Load()
	if known == nil {
		known, c.asked = &moment{here: after, there: after.Round(0).UTC()}, before
	}
	if there.Before(known.later(before).Add(-clockSlack)) || there.After(known.later(after).Add(clockSlack)) {
		known = &moment{here: after, there: there.Add(after.Sub(before) / 2).Round(0).UTC()}
	}
	c.known.Store(known)
}

// syncClock asks the store for its time, if it has a clock and was not asked for a while. A store that fails to answer is an
// error only if it never has answered.
func (h *Host) syncClock(ctx context.Context) error {
	s, ok := h.Store.(store.Clock)
	before := time.Now()
	if !ok || !h.clock.due(before, h.Lease/3) {
		return nil
	}
	there, err := s.Time(ctx)
	switch {
	case err == nil:
		h.clock.learn(before, time.Now(), there)
	case h.clock.known.Load() != nil:
		h.clock.askAgain()
		err = nil
	}
	return err
}

// Now returns the time by which events are written. op is what an error says that is done.
func (h *Host) Now(ctx context.Context, op string) (time.Time, error) {
	if err := h.retryStore(ctx.Done(), func() error { return h.syncClock(ctx) }); err != nil {
		return time.Time{}, StoreError(op, err)
	}
	return h.clock.now(), nil
}

// Input adds the time and the random bits to a signal of a process that holds no lease.
func (h *Host) Input(signal flow.Signal) flow.Input { return inputAt(h.clock.now(), signal) }

// NewInput is an input for a core whose runtime writes the times of its own clock.
func NewInput(signal flow.Signal) flow.Input { return inputAt(time.Now().Round(0).UTC(), signal) }

func inputAt(at time.Time, signal flow.Signal) flow.Input {
	return flow.Input{At: at, Bits: rand.Uint64(), Signal: signal} //nolint:gosec // jitter is no secret
}
