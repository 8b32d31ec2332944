package session

import (
	"context"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// drain lets the session only finish its calls in flight. Their results are recorded, and no other call starts. Then the
// session closes for the given reason, and another process may continue the conversation. The lock is held.
func (s *Session) drain(reason error) {
	if s.draining != nil || s.closed != nil {
		return
	}
	s.draining = reason
	s.tickAt(time.Time{})
}

// closeIfDrained closes a session that drains, once no call is in flight. The lock is held.
func (s *Session) closeIfDrained() {
	if s.draining != nil && len(s.flights) == 0 {
		s.closeWith(s.draining)
	}
}

// drainWithin drains the session and waits until it is closed and nothing of it runs any more, or ctx is done.
func (s *Session) drainWithin(ctx context.Context) error {
	if err := s.mu.enter(ctx); err != nil {
		return err
	}
	s.drain(flow.ErrClosed)
	s.closeIfDrained()
	s.mu.Unlock()
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
