// Package callctx bounds a call in time by a context whose clock can stand.
package callctx

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// Near is how long before its deadline a tended context has a timer at the latest.
const Near = 600 * time.Millisecond

// Context bounds one call in time. The zero value is ready to use. Cancel must be called.
//
// Most calls use little of what context.WithTimeout does. So the channel is made when it is first used, and a session cancels its
// calls itself. So is the timer, unless the context is tended: most calls return long before their deadline, and need none.
type Context struct {
	parent   context.Context // nil if there is none
	began    time.Time       // when the time of the call began
	before   time.Duration   // how long the call waited before
	deadline time.Time       // zero if there is none; once err is set, when that was

	mu     sync.Mutex
	done   chan struct{}
	err    error
	free   func()               // gives back what the call holds while it runs; nil: it holds nothing
	armed  bool                 // the timer and the parent are watched
	recall bool                 // a wait ends the context
	tended bool                 // somebody calls Look
	paused int32                // number of waits that stop the clock
	since  time.Duration        // from began until the first of these waits
	waited time.Duration        // how long the clock has stood, without the present wait
	after  map[*func()]struct{} // the functions given to AfterFunc
	timer  *time.Timer
	stop   func() bool // stops watching the parent
}

// Attach makes the context end with its parent. It must precede the first use.
func (c *Context) Attach(parent context.Context) { c.parent = parent }

// Tend says that the caller calls Look at least twice in the time of Near, until the context has ended. It must precede the first use.
func (c *Context) Tend() { c.tended = true }

// Look makes the timer of a tended context once its deadline is near.
func (c *Context) Look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.armed && c.err == nil {
		c.setTimer()
	}
}

// Limit begins the time of the call, and sets the deadline if there is a timeout. It comes before the first use, or when
// the call has waited for its turn. No wait is in progress then.
func (c *Context) Limit(timeout time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.began = time.Now()
	c.before, c.waited = c.before+c.waited, 0
	if timeout > 0 && c.err == nil {
		c.deadline = c.began.Add(timeout)
	}
	if c.err == nil && c.armed {
		c.arm()
	}
}

// Deadline implements [context.Context].
func (c *Context) Deadline() (time.Time, bool) {
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

// Pause implements [provider.Clock]. While a call waits in a queue, its deadline moves.
func (c *Context) Pause() (resume func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused++; c.paused == 1 {
		if c.began.IsZero() { // it queues before its time begins
			c.began = time.Now()
		}
		c.since = time.Since(c.began)
		if c.timer != nil {
			c.timer.Stop()
			c.timer = nil
		}
	}
	if c.recall {
		c.finish(context.Canceled)
	}
	return sync.OnceFunc(c.resume)
}

// Recall ends the context if the call waits in a queue, and as soon as it begins to wait in one. It lets other calls be.
func (c *Context) Recall() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recall = true
	if c.paused > 0 {
		c.finish(context.Canceled)
	}
}

// Waits reports whether the call waits in a queue.
func (c *Context) Waits() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paused > 0
}

func (c *Context) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused--; c.paused > 0 {
		return
	}
	wait := time.Since(c.began) - c.since
	c.waited += wait
	if !c.deadline.IsZero() && c.err == nil {
		c.deadline = c.deadline.Add(wait)
	}
	if c.err == nil && c.armed {
		c.arm()
	}
}

// Took returns how long the call has taken since its time began, without its waits.
func (c *Context) Took() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.began) - c.waited
}

// Queued returns how long the call has waited so far, before its time began and since, in whole milliseconds.
func (c *Context) Queued() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	queued := c.before + c.waited
	if c.paused > 0 {
		queued += time.Since(c.began) - c.since
	}
	return queued.Truncate(time.Millisecond)
}

// Value implements [context.Context].
func (c *Context) Value(key any) any {
	if key == (provider.ClockKey{}) {
		return c
	}
	if c.parent == nil {
		return nil
	}
	return c.parent.Value(key)
}

// Done implements [context.Context].
func (c *Context) Done() <-chan struct{} {
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
func (c *Context) AfterFunc(f func()) (stop func() bool) {
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

// arm makes the context end by itself. The caller holds the lock.
func (c *Context) arm() {
	c.armed = true
	c.setTimer()
	if c.stop == nil && c.parent != nil {
		c.stop = context.AfterFunc(c.parent, func() { c.end(c.parent.Err()) })
	}
}

// setTimer makes the timer, unless a later look does. The caller holds the lock.
func (c *Context) setTimer() {
	if c.timer != nil || c.deadline.IsZero() || c.paused > 0 {
		return
	}
	if left := time.Until(c.deadline); !c.tended || left <= Near {
		c.timer = time.AfterFunc(left, c.expire)
	}
}

// Err implements [context.Context].
func (c *Context) Err() error {
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

// End returns when the context has ended, or when it will. ok is false if that is not known yet: the call waits for its
// turn, or has no timeout.
func (c *Context) End() (end time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		return c.deadline, true
	case c.paused > 0:
		return time.Time{}, false
	default:
		return c.deadline, !c.deadline.IsZero()
	}
}

// Hold keeps a function that gives back what the call holds while it runs.
func (c *Context) Hold(free func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free = free
}

// Free calls the function that Hold was given, once.
func (c *Context) Free() {
	c.mu.Lock()
	free := c.free
	c.free = nil
	c.mu.Unlock()
	if free != nil {
		free()
	}
}

// Cancel ends the context and releases its resources.
func (c *Context) Cancel() { c.end(context.Canceled) }

// expire ends the context when its time is over. If a timer fires while a wait begins, it is ignored.
func (c *Context) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused == 0 && !time.Now().Before(c.deadline) {
		c.finish(context.DeadlineExceeded)
	}
}

func (c *Context) end(reason error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finish(reason)
}

// finish ends the context once. The caller holds the lock.
func (c *Context) finish(reason error) {
	if c.err != nil {
		return
	}
	c.err = reason
	if now := time.Now(); !errors.Is(reason, context.DeadlineExceeded) || c.deadline.IsZero() || c.deadline.After(now) {
		c.deadline = now
	}
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
