package debate

import (
	"context"
	"time"
)

// finish ends the session's work for a debate that is over. The session can still be read.
func (s *session) finish() {
	s.over.Store(true)
	s.host.unregister(s)
	s.unlisten()
	s.releaseLease()
}

// close closes the session and waits until nothing of it runs any more.
func (s *session) close() {
	s.cancel()
	s.mu.Lock()
	s.closeWith(ErrClosed)
	s.mu.Unlock()
	<-s.done
}

// closeWithin is close for at most as long as ctx lasts.
func (s *session) closeWithin(ctx context.Context) error {
	s.cancel()
	if err := s.mu.enter(ctx); err != nil {
		return err
	}
	s.closeWith(ErrClosed)
	s.mu.Unlock()
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// closeWith closes the session for the given reason, and does not wait. The lock is held.
func (s *session) closeWith(reason error) {
	if s.closed != nil {
		return
	}
	s.closed = reason
	s.closedErr.Store(&reason)
	s.tickAt(time.Time{})
	for _, f := range s.flights {
		f.ctx.cancel()
	}
	s.host.unregister(s)
	s.unlisten()
	s.releaseLease()
	s.signalDone()
	s.notify()
}
