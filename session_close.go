package debate

import (
	"context"
	"time"
)

// finish lets go of a debate that is over.
func (s *Session) finish() {
	s.over.Store(true)
	s.live.forget(s)
	s.unlisten()
	s.release()
}

// Close lets go of the debate, which stays as it is: calls in flight are broken off and not
// recorded, the lease is released, and another process may open it. Close returns when nothing of
// the session runs any more, so it must not be called from within a provider. It may be called
// again; its error is always nil.
func (s *Session) Close() error {
	s.hurry()
	s.mu.Lock()
	s.drop(ErrClosed)
	s.mu.Unlock()
	<-s.quiet
	return nil
}

// detach is Close for at most as long as ctx lasts.
func (s *Session) detach(ctx context.Context) error {
	s.hurry()
	if err := s.mu.enter(ctx); err != nil {
		return err
	}
	s.drop(ErrClosed)
	s.mu.Unlock()
	select {
	case <-s.quiet:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// drop ends the session for the given reason. The lock is held.
func (s *Session) drop(reason error) {
	if s.closed != nil {
		return
	}
	s.closed = reason
	s.gone.Store(&reason)
	s.tickAt(time.Time{})
	for _, f := range s.flights {
		f.ctx.cancel()
	}
	s.live.forget(s)
	s.unlisten()
	s.release()
	s.signalDone()
	s.notify()
}
