package limit

import (
	"container/list"
	"context"
	"errors"

	"github.com/agonist-dev/debate/provider"
)

// queue is calls that wait, first come, first served. The lock of its owner guards it.
type queue struct{ calls list.List }

// waiter is a call in a queue.
type waiter struct {
	tokens int           // what it will take, where they count
	turn   chan struct{} // closed when it may go
	place  *list.Element // nil: it has left the queue
}

func (q *queue) len() int { return q.calls.Len() }

// join puts a call at the end.
func (q *queue) join(tokens int) *waiter {
	w := &waiter{tokens: tokens, turn: make(chan struct{})}
	w.place = q.calls.PushBack(w)
	return w
}

// head yields the call that waits longest, nil if there is none.
func (q *queue) head() *waiter {
	if first := q.calls.Front(); first != nil {
		if w, ok := first.Value.(*waiter); ok {
			return w
		}
	}
	return nil
}

// admit lets a call go.
func (q *queue) admit(w *waiter) {
	q.leave(w)
	close(w.turn)
}

// leave takes a call out, and reports whether it was still there: if not, it has been admitted.
func (q *queue) leave(w *waiter) bool {
	if w.place == nil {
		return false
	}
	q.calls.Remove(w.place)
	w.place = nil
	return true
}

// wait blocks until the call is admitted or ctx is done, and reports the latter, also if both are the
// case: who finds an error takes the call out, or gives back what it got. The owner's lock is not held.
func (w *waiter) wait(ctx context.Context) error {
	resume := provider.Waiting(ctx)
	defer resume()
	select {
	case <-w.turn:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// ended is the failure of a call that was given up before it was sent.
func ended(cause error) error {
	kind := provider.KindCanceled
	if errors.Is(cause, context.DeadlineExceeded) {
		kind = provider.KindTimeout
	}
	return &provider.Error{Kind: kind, NotSent: true, Err: cause}
}
