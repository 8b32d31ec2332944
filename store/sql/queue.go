package sql

import (
	"slices"
	"strings"
	"sync"
)

// Limits of what is written in one transaction.
const (
	batchSteps = 256
	batchBytes = 4 << 20
)

// queue holds the steps that wait to be committed, and knows which are being.
type queue struct {
	mu      sync.Mutex
	changed sync.Cond       // there may be something to take, or the queue is closed
	steps   []*step         // in the order in which they came
	busy    map[string]bool // debates that are being written
	running int             // batches that are being written
	most    int             // that may be at once
	crowded bool            // the last batch had several steps
	closed  bool
}

func newQueue(most int) *queue {
	q := &queue{most: most, busy: make(map[string]bool)}
	q.changed.L = &q.mu
	return q
}

// put adds a step. If nobody else is there, lone is true and the caller is to write it at once, as a batch:
// to wake a committer for it takes longer than that it may find company.
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

// leave takes a step back, unless it is being written.
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

// take waits for steps and takes a batch. It yields none once the queue is closed and empty.
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
func (q *queue) writable(s *step) bool { return q.running < q.most && !q.busy[s.id] }

// batch takes as many steps as go into one transaction, in the order of their ids: no two of one debate,
// and none of a debate that is being written.
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

// end ends a batch, of which these steps are done. The others are written further, and released one by one.
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

// free lets others write the debates of steps that are done.
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

// close refuses further steps, and waits until those that are there are written.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Broadcast()
	for len(q.steps) > 0 || q.running > 0 || len(q.busy) > 0 {
		q.changed.Wait()
	}
}
