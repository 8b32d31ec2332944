package session

import (
	"context"
	"math"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// finish ends the session's work for a conversation that is over. The session can still be read.
func (s *Session) finish() {
	s.over.Store(true)
	s.files.clear()
	s.host.unregister(s)
	s.host.relay.rest()
	s.unlisten()
	s.releaseLease()
}

// Close closes the session and waits until nothing of it runs any more, apart from code of others that is given up.
func (s *Session) Close() {
	_, _ = s.closeWithin(saturated(s.host.Lease, s.host.Grace), flow.ErrClosed)
}

// closeWithin is Close for a reason of its own, which wraps [flow.ErrClosed]. It returns how many calls it has aborted, and whether
// the session is closed.
//
// Whoever holds the lock may wait for the store. A store that has not returned within most ignores its context. The session is then
// closed without it. What is recorded at the end, and the release of the lease, get that time again.
func (s *Session) closeWithin(most time.Duration, reason error) (aborted int, closed bool) {
	s.cancel()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case s.mu.lock <- struct{}{}:
		aborted = s.end(reason)
		s.mu.Unlock()
	case <-s.mu.lost:
		return 0, true
	case <-timer.C:
		s.abandon(reason)
		return 0, false
	}
	closed, _ = s.awaitEnd(context.Background(), most, reason)
	return aborted, closed
}

// awaitEnd waits until nothing of a session runs any more that closes for the given reason, or ctx is done. After most, it closes the
// session without the store.
func (s *Session) awaitEnd(ctx context.Context, most time.Duration, reason error) (closed bool, err error) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-s.done:
	case <-s.mu.lost:
	case <-ctx.Done():
		return false, ctx.Err()
	case <-timer.C:
		s.abandon(reason)
		return false, nil
	}
	return true, nil
}

// abandon gives up the store that does not return. Readers and waiters learn why the session is closed. When the store
// returns, the session closes as usual.
func (s *Session) abandon(reason error) {
	if !s.abandoned.CompareAndSwap(false, true) {
		return
	}
	s.closedErr.CompareAndSwap(nil, &reason)
	s.mu.why = *s.closedErr.Load()
	close(s.mu.lost)
	s.host.unregister(s)
	for _, w := range *s.watchers.Load() {
		w.wakeUp()
	}
	s.host.GaveUpStore(s.ID)
	go func() {
		s.mu.Lock()
		s.closeWith(reason)
		s.mu.Unlock()
		<-s.done
		s.host.StoreReturned(s.ID)
	}()
}

// saturated returns the sum of two durations that are not negative, or the longest there is.
func saturated(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// closeWith closes the session for the given reason, and does not wait. The lock is held.
func (s *Session) closeWith(reason error) {
	if s.closed != nil {
		return
	}
	s.closedErr.CompareAndSwap(nil, &reason) // of a session that was given up, the callers know why already
	s.closed = *s.closedErr.Load()
	if s.leased && s.core.HasWork() {
		s.host.Counts.closed(s.closed)
	}
	if s.drained != nil {
		close(s.drained)
	}
	s.tickAt(time.Time{})
	for _, f := range s.flights { // first those that wait: a call that is broken off makes way for the next one
		f.ctx.Recall()
	}
	for _, f := range s.flights {
		s.cancelCall(f)
	}
	s.host.unregister(s)
	s.host.relay.rest()
	s.unlisten()
	if !s.ending {
		s.releaseLease()
	}
	s.signalDone()
	s.notify()
}
