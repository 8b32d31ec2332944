package limit

import (
	"container/list"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/ended"
)

// queue holds the calls that wait, first come, first served. The lock of its owner guards it.
type queue struct{ calls list.List }

// waiter is a call in a queue.
type waiter struct {
	tokens int           // what it will take, if tokens are limited
	turn   chan struct{} // closed when the call may start
	place  *list.Element // nil: it has left the queue
	failed error         // why its turn does not come
}

func (q *queue) len() int { return q.calls.Len() }

// join adds a call at the end.
func (q *queue) join(tokens int) *waiter {
	w := &waiter{tokens: tokens, turn: make(chan struct{})}
	w.place = q.calls.PushBack(w)
	return w
}

// head returns the call that has waited longest, or nil if the queue is empty.
func (q *queue) head() *waiter {
	if first := q.calls.Front(); first != nil {
		if w, ok := first.Value.(*waiter); ok {
			return w
		}
	}
	return nil
}

// admit lets a call start.
func (q *queue) admit(w *waiter) {
	q.leave(w)
	close(w.turn)
}

// fail ends the wait of all calls.
func (q *queue) fail(err error) {
	for w := q.head(); w != nil; w = q.head() {
		w.failed = err
		q.admit(w)
	}
}

// leave removes a call, and reports whether it was still in the queue. If not, it has been admitted.
func (q *queue) leave(w *waiter) bool {
	if w.place == nil {
		return false
	}
	q.calls.Remove(w.place)
	w.place = nil
	return true
}

// wait blocks until the call is admitted or ctx is done. If ctx is done, wait returns an error, even if
// the call has been admitted too. On an error, the caller removes the call from the queue or returns its
// place. The owner's lock is not held.
func (w *waiter) wait(ctx context.Context) error {
	resume := provider.Waiting(ctx)
	select {
	case <-w.turn:
	case <-ctx.Done():
	}
	resume() // before the look at ctx: until then the call may be recalled
	return ctx.Err()
}

// asking is how long a call of an ability waits for the answer of a ledger.
const asking = time.Second

var errFull = errors.New("other calls have all that the limit allows now, and a call of an ability does not wait for them")

// soon lets a call of an ability enter a limit, unless that is full, or is found to be full: it waits for no other call.
func soon(ctx context.Context, full bool, enter func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return ended.Unsent(err)
	}
	if !full {
		asked, cancel := context.WithTimeout(ctx, asking)
		defer cancel()
		if err := enter(asked); err == nil || ctx.Err() != nil || asked.Err() == nil {
			return err
		}
	}
	return &provider.Error{Kind: provider.KindRateLimit, NotSent: true, Err: errFull}
}

// unreachable returns the failure of a call for which a ledger has given no turn.
func unreachable(name string, cause error) error {
	return &provider.Error{
		Kind: provider.KindNetwork, NotSent: true, Err: cause,
		Message: "the shared limits of " + strconv.Quote(name) + " are not available",
	}
}
