package sql

import (
	"slices"
	"strings"
	"sync"
)

// Limits of a transaction's writes.
const (
	batchSteps = 256
	batchBytes = 4 << 20
)

// queue holds the steps that wait to be committed, and records which steps are being written.
type queue struct {
	mu      sync.Mutex
	changed sync.Cond       // there may be something to take, or the queue is closed
	steps   []*step         // in order of arrival
	busy    map[string]bool // conversations that are being written
	running int             // batches that are being written
	limit   int             // of running
	crowded bool            // the last batch had several steps
	closed  bool
}

func newQueue(limit int) *queue {
	q := &queue{limit: limit, busy: make(map[string]bool)}
	q.changed.L = &q.mu
	return q
}

// put adds a step. If nothing else is waiting or being written, lone is true, and the caller must write
// the step at once, as a batch: waking a committer for it would take longer than to wait for other steps
// is worth.
func (q *queue) put(s *step) (lone bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false, ErrClosed
	}
	q.steps = append(q.steps, s)
	if lone = len(q.steps) == 1 && !q.crowded && q.writable(s); lone {
		q.batch()
	} else {
		q.changed.Signal()
	}
	return lone, nil
}

// leave withdraws a step, unless it is being written.
func (q *queue) leave(s *step) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.steps, s)
	if i < 0 {
		return false
	}
	q.steps = slices.Delete(q.steps, i, i+1)
	if q.closed {
		q.changed.Broadcast()
	}
	return true
}

// take waits for steps and returns a batch. It returns nil once the queue is closed and empty.
func (q *queue) take() []*step {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if batch := q.batch(); len(batch) > 0 {
			return batch
		}
		if q.closed && len(q.steps) == 0 {
			return nil
		}
		q.changed.Wait()
	}
}

// writable reports whether a step may be written now.
func (q *queue) writable(s *step) bool { return q.running < q.limit && !q.busy[s.id] }

// batch takes as many steps as fit into one transaction, in the order of their ids: at most one of each
// conversation, and none of a conversation that is being written.
func (q *queue) batch() (batch []*step) {
	size := 0
	q.steps = slices.DeleteFunc(q.steps, func(s *step) bool {
		if !q.writable(s) || len(batch) == batchSteps || (len(batch) > 0 && size+len(s.body) > batchBytes) {
			return false
		}
		q.busy[s.id] = true
		batch, size = append(batch, s), size+len(s.body)
		return true
	})
	if len(batch) > 0 {
		q.running++
		q.crowded = len(batch) > 1
		slices.SortFunc(batch, func(a, b *step) int { return strings.Compare(a.id, b.id) })
	}
	return batch
}

// end ends a batch in which these steps are done. The other steps are still being written, and are
// released one by one.
func (q *queue) end(done []*step) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running--
	q.free(done...)
}

// release ends a step that was not done when its batch ended.
func (q *queue) release(s *step) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free(s)
}

// free allows writing to the conversations of steps that are done.
func (q *queue) free(done ...*step) {
	for _, s := range done {
		delete(q.busy, s.id)
	}
	switch {
	case q.closed:
		q.changed.Broadcast()
	case len(q.steps) > 0:
		q.changed.Signal()
	}
}

// close refuses further steps, and waits until the present ones are written.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Broadcast()
	for len(q.steps) > 0 || q.running > 0 || len(q.busy) > 0 {
		q.changed.Wait()
	}
}
