package session

import (
	"context"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// drain lets the session only finish the calls that are sent. Their results are recorded, and no other call starts. A call that
// waits for its turn is recalled. Then the session closes for the given reason, and another process may continue the
// conversation. The lock is held.
func (s *Session) drain(reason error) {
	if s.draining != nil || s.closed != nil {
		return
	}
	s.draining = reason
	s.tickAt(time.Time{})
	for _, f := range s.flights {
		if f.recallable() {
			f.ctx.Recall()
			s.host.looks.hurry(f)
		}
	}
}

// recallable reports whether the call can be made again without a question if it was broken off. The use of a tool cannot.
func (f *flight) recallable() bool { return f.command.Use == nil }

// recalled marks the outcome of a call that this session has broken off because it stops: the failure is nobody's.
func (s *Session) recalled(f *flight, signal flow.Signal) flow.Signal {
	failed, ok := signal.(flow.Failed)
	if ok && (s.draining != nil || s.ending) && f.recallable() && failed.Error != nil && failed.Error.Kind == provider.KindCanceled {
		failed.Void = true
		return failed
	}
	return signal
}

// closeIfDrained closes a session that drains, once no call is in flight. The lock is held.
func (s *Session) closeIfDrained() {
	if s.draining != nil && len(s.flights) == 0 {
		s.closeWith(s.draining)
	}
}

// maxEnding bounds how long a session that was closed keeps its lease for calls that were broken off. A call that was not sent
// returns at once. Others may take their time, and count as broken off.
const maxEnding = time.Second

// end closes the session for the given reason. Its calls are broken off. Those that were not sent cost nothing, and only this
// process knows. So the lease is released once they have returned, but soon, and they are recorded before. It returns how
// many calls were in flight. The lock is held.
func (s *Session) end(reason error) (aborted int) {
	if s.closed != nil {
		return 0
	}
	aborted = len(s.flights)
	s.ending = s.leased && len(s.flights) > 0
	s.closeWith(reason)
	if s.ending {
		s.timer = s.after(min(maxEnding, s.host.Grace/2), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.endNow()
		})
	}
	return aborted
}

// keepUnsent keeps what has come of a call if it was broken off before it was sent. The lock is held.
func (s *Session) keepUnsent(signal flow.Signal) {
	if !s.ending {
		return
	}
	outcomes, several := signal.(flow.Outcomes)
	if !several {
		outcomes = flow.Outcomes{signal}
	}
	for _, one := range outcomes {
		if failed, ok := one.(flow.Failed); ok && failed.Void && failed.Free {
			s.unsent = append(s.unsent, one)
		}
	}
	if len(s.flights) == 0 {
		s.endNow()
	}
}

// endNow records the calls that were not sent in one commit, and releases the lease. The lock is held.
func (s *Session) endNow() {
	if !s.ending {
		return
	}
	s.ending = false
	s.stop(s.timer)
	if len(s.unsent) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), s.host.Grace/2)
		defer cancel()
		log := ledger{way: s, core: s.core}
		if _, _, err := log.advance(ctx, s.unsent); err == nil { // else they count as broken off
			s.publishState()
		}
	}
	s.releaseLease()
}

// drainWithin drains the session for a reason, which wraps [flow.ErrClosed]. It waits until the session is closed and nothing of it
// runs any more, or ctx is done. Once no call is in flight, it waits no longer than Close does.
func (s *Session) drainWithin(ctx context.Context, reason error) error {
	if err := s.mu.enter(ctx); err != nil {
		return err
	}
	s.drain(reason)
	s.closeIfDrained()
	if s.closed == nil && s.drained == nil {
		s.drained = make(chan struct{})
	}
	drained := s.drained
	s.mu.Unlock()
	if drained != nil {
		select {
		case <-drained:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	_, err := s.awaitEnd(ctx, saturated(s.host.Lease, s.host.Grace), reason)
	return err
}

// Drain lets the session of a worker that ends finish the calls that are sent, and closes it. It waits until nothing of it runs any
// more, apart from code of others that is given up. Once ctx is done, it aborts the calls that are left, and returns true if there are any.
func (s *Session) Drain(ctx context.Context) (aborted bool) {
	if err := s.drainWithin(ctx, errLeft); err == nil {
		return false
	}
	calls, closed := s.closeWithin(saturated(s.host.Lease, s.host.Grace), errLeft)
	return calls > 0 || !closed
}
