package session

import (
	"context"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// finish ends the session's work for a conversation that is over. The session can still be read.
func (s *Session) finish() {
	s.over.Store(true)
	s.host.unregister(s)
	s.unlisten()
	s.releaseLease()
}

// Close closes the session and waits until nothing of it runs any more.
func (s *Session) Close() {
	s.cancel()
	s.mu.Lock()
	s.closeWith(flow.ErrClosed)
	s.mu.Unlock()
	<-s.done
}

// closeWithin is close for at most as long as ctx lasts.
func (s *Session) closeWithin(ctx context.Context) error {
	s.cancel()
	if err := s.mu.enter(ctx); err != nil {
		return err
	}
	s.closeWith(flow.ErrClosed)
	s.mu.Unlock()
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// closeWith closes the session for the given reason, and does not wait. The lock is held.
func (s *Session) closeWith(reason error) {
	if s.closed != nil {
		return
	}
	s.closed = reason
	s.closedErr.Store(&reason)
	s.tickAt(time.Time{})
	for _, f := range s.flights {
		f.ctx.Cancel()
	}
	s.host.unregister(s)
	s.unlisten()
	s.releaseLease()
	s.signalDone()
	s.notify()
}
