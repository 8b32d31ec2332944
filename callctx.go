package debate

import (
	"context"
	"sync"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// callContext bounds one call in time. A provider that answers at once needs little of what context.WithTimeout
// does, so the timer and the channel are made when they are first used, and a session cancels its calls itself.
// cancel must be called. The zero value is ready to use.
type callContext struct {
	parent   context.Context // nil: none
	began    time.Time       // when its time began
	deadline time.Time       // zero: none

	mu     sync.Mutex
	done   chan struct{}
	err    error
	armed  bool                 // the end is waited for
	paused int                  // how many waits stop the clock
	since  time.Time            // when the first of them began
	waited time.Duration        // how long the clock has stood, without the present wait
	after  map[*func()]struct{} // what AfterFunc was given
	timer  *time.Timer
	stop   func() bool // takes it off the parent
}

// attach makes the context end with its parent. It comes before the first use.
func (c *callContext) attach(parent context.Context) { c.parent = parent }

// limit begins its time, and sets the deadline if there is a timeout. It comes before the first use.
func (c *callContext) limit(timeout time.Duration) {
	c.began = time.Now()
	if timeout > 0 {
		c.deadline = c.began.Add(timeout)
	}
}

// Deadline implements [context.Context].
func (c *callContext) Deadline() (time.Time, bool) {
	c.mu.Lock()
	own := c.deadline
	if c.paused > 0 {
		own = time.Time{}
	}
	c.mu.Unlock()
	if c.parent != nil {
		if deadline, ok := c.parent.Deadline(); ok && (own.IsZero() || deadline.Before(own)) {
			return deadline, true
		}
	}
	return own, !own.IsZero()
}

// Pause implements [provider.Clock]: while a call waits in a queue, its deadline is moved.
func (c *callContext) Pause() (resume func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused++; c.paused == 1 {
		c.since = time.Now()
		if c.timer != nil {
			c.timer.Stop()
			c.timer = nil
		}
	}
	return sync.OnceFunc(c.resume)
}

func (c *callContext) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused--; c.paused > 0 {
		return
	}
	wait := time.Since(c.since)
	c.waited += wait
	if !c.deadline.IsZero() {
		c.deadline = c.deadline.Add(wait)
	}
	if c.err == nil && c.armed {
		c.arm()
	}
}

// took returns how long the call has taken since its time began, without its waits.
func (c *callContext) took() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.began) - c.waited
}

// Value implements [context.Context].
func (c *callContext) Value(key any) any {
	if key == (provider.ClockKey{}) {
		return c
	}
	if c.parent == nil {
		return nil
	}
	return c.parent.Value(key)
}

// Done implements [context.Context].
func (c *callContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err != nil {
			close(c.done)
		} else {
			c.arm()
		}
	}
	return c.done
}

// AfterFunc lets package context derive contexts from this one without a goroutine for each.
func (c *callContext) AfterFunc(f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		go f()
		return func() bool { return false }
	}
	if c.after == nil {
		c.after = make(map[*func()]struct{})
	}
	c.after[&f] = struct{}{}
	c.arm()
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, waiting := c.after[&f]
		delete(c.after, &f)
		return waiting
	}
}

// arm makes the context end by itself. The lock is held.
func (c *callContext) arm() {
	c.armed = true
	if c.timer == nil && !c.deadline.IsZero() && c.paused == 0 {
		c.timer = time.AfterFunc(time.Until(c.deadline), func() { c.expire() })
	}
	if c.stop == nil && c.parent != nil {
		c.stop = context.AfterFunc(c.parent, func() { c.end(c.parent.Err()) })
	}
}

// Err implements [context.Context].
func (c *callContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
	case c.parent != nil && c.parent.Err() != nil:
		c.finish(c.parent.Err())
	case !c.deadline.IsZero() && c.paused == 0 && !time.Now().Before(c.deadline):
		c.finish(context.DeadlineExceeded)
	}
	return c.err
}

// cancel ends the context and frees what it holds.
func (c *callContext) cancel() { c.end(context.Canceled) }

// expire ends the context when its time is over. A timer that fires while a wait begins is ignored.
func (c *callContext) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused == 0 && !time.Now().Before(c.deadline) {
		c.finish(context.DeadlineExceeded)
	}
}

func (c *callContext) end(reason error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finish(reason)
}

// finish ends the context once. The lock is held.
func (c *callContext) finish(reason error) {
	if c.err != nil {
		return
	}
	c.err = reason
	if c.done != nil {
		close(c.done)
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	if c.stop != nil {
		c.stop()
	}
	for f := range c.after {
		go (*f)()
	}
	c.after = nil
}
