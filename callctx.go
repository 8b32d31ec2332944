package debate

import (
	"context"
	"sync"
	"time"
)

// callContext bounds one call in time. Most of what context.WithTimeout does for a call is not needed
// by a provider that answers at once, so the timer and the channel are made when somebody asks for
// Done, and not before.
type callContext struct {
	context.Context // the session's

	deadline time.Time // zero: none

	mu    sync.Mutex
	done  chan struct{}
	err   error
	timer *time.Timer
	stop  func() bool // takes it off the parent
}

// begin sets the context of a call, once. cancel must be called.
func (c *callContext) begin(parent context.Context, timeout time.Duration) {
	c.Context = parent
	if timeout > 0 {
		c.deadline = time.Now().Add(timeout)
	}
}

// Deadline implements [context.Context].
func (c *callContext) Deadline() (time.Time, bool) {
	if deadline, ok := c.Context.Deadline(); ok && (c.deadline.IsZero() || deadline.Before(c.deadline)) {
		return deadline, true
	}
	return c.deadline, !c.deadline.IsZero()
}

// Done implements [context.Context].
func (c *callContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done != nil {
		return c.done
	}
	c.done = make(chan struct{})
	if c.err != nil {
		close(c.done)
		return c.done
	}
	if !c.deadline.IsZero() {
		c.timer = time.AfterFunc(time.Until(c.deadline), func() { c.end(context.DeadlineExceeded) })
	}
	c.stop = context.AfterFunc(c.Context, func() { c.end(c.Context.Err()) })
	return c.done
}

// Err implements [context.Context].
func (c *callContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
	case c.Context.Err() != nil:
		c.finish(c.Context.Err())
	case !c.deadline.IsZero() && !time.Now().Before(c.deadline):
		c.finish(context.DeadlineExceeded)
	}
	return c.err
}

// cancel ends the context and frees what it holds.
func (c *callContext) cancel() { c.end(context.Canceled) }

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
		if c.timer != nil {
			c.timer.Stop()
		}
		c.stop()
	}
}
