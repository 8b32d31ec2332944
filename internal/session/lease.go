package session

import (
	"context"
	"errors"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/callctx"
)

// defaultLease is the time of a lease unless the engine sets another. It is long enough for a pause of the
// garbage collector, a busy machine or a database that fails over, and short enough for those who wait.
const defaultLease = 15 * time.Second

// trackHolder lists a session for shutdown for as long as it may have a lease. That can be before the session is
// registered, and after it was unregistered.
func (h *Host) trackHolder(s *Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holders[s] = struct{}{}
}

func (h *Host) untrackHolder(s *Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.holders, s)
}

// acquireLease leases the conversation: from now on only this session continues it.
func (s *Session) acquireLease(ctx context.Context) error {
	s.host.trackHolder(s)
	if err := s.renewLease(ctx); err != nil {
		s.host.untrackHolder(s)
		return StoreError("lease", err)
	}
	s.leased = true
	s.unlisten()
	s.scheduleRenewal()
	s.host.looks.join(s)
	return nil
}

// renewLease acquires the lease, or extends it. Its time counts from before the store was asked.
func (s *Session) renewLease(ctx context.Context) error {
	var bound callctx.Context
	bound.Attach(ctx)
	bound.Limit(s.host.Lease)
	defer bound.Cancel()
	if err := s.host.syncClock(&bound); err != nil {
		return err
	}
	now := time.Now()
	err := s.host.Store.Lease(&bound, s.ID, s.writer, s.host.Lease)
	if err == nil {
		if !s.leaseLasts() {
			s.terms.Add(1) // before the time, by which a call may be made
		}
		s.renewed.Store(&now)
	}
	return err
}

// leaseLasts reports whether the lease that was last acquired or renewed still lasts.
func (s *Session) leaseLasts() bool {
	renewed := s.renewed.Load()
	return renewed != nil && s.host.leaseLasts(*renewed)
}

// leaseLasts reports whether a lease that was renewed at that time still lasts. It looks at both clocks: that of the wall goes on
// while a machine sleeps, the monotonic one is never set back.
func (h *Host) leaseLasts(renewed time.Time) bool {
	now := time.Now()
	return max(now.Sub(renewed), now.Round(0).Sub(renewed.Round(0))) < h.Lease
}

// ensureLease renews a lease whose time is over: on a machine that slept nobody may have noticed.
func (s *Session) ensureLease(ctx context.Context) error {
	if !s.leased || s.leaseLasts() {
		return nil
	}
	return s.renewLease(ctx)
}

// mayLaunch returns nil if a call that is recorded may be made now. The process may have been stopped since the call was
// recorded, or a store may have been slow. If the lease did not last since then, the session renews it and reads what
// others have appended meanwhile. They may have given up the call, and made it themselves.
func (s *Session) mayLaunch(f *flight) error {
	if s.leaseLasts() && s.terms.Load() == f.term {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed != nil {
		return s.closed
	}
	if !s.leased {
		return context.Canceled
	}
	ctx := context.Background()
	grew := false
	err := s.retryStore(ctx, func(ctx context.Context) error {
		if err := s.renewLease(ctx); err != nil {
			return err
		}
		more, err := s.catchUp(ctx)
		grew = grew || more
		return err
	})
	if err != nil {
		err = StoreError("lease", err)
		s.closeWith(err)
		return err
	}
	if grew {
		err = s.stepGrowth(ctx)
	}
	if err == nil && !s.core.InFlightAs(f.command.Call, f.command.Attempt) {
		err = context.Canceled // another process has given up the call
	}
	return err
}

// scheduleRenewal renews the lease for as long as the session has it.
func (s *Session) scheduleRenewal() {
	var renewal *time.Timer
	renewal = s.after(s.host.Lease/3, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.leased && s.renewal == renewal {
			s.keepLease()
		}
		if s.leased && s.renewal == renewal {
			s.scheduleRenewal()
		}
	})
	s.renewal = renewal
}

// keepLease renews the lease, and steps what others have appended without one: answers and controls.
func (s *Session) keepLease() {
	ctx, cancel := context.WithTimeout(context.Background(), s.host.Lease/3)
	defer cancel()
	if err := s.renewLease(ctx); errors.Is(err, flow.ErrLeased) {
		s.closeWith(StoreError("lease", err))
		return
	} else if err != nil {
		return // the store may recover before the lease ends
	}
	s.actOnGrowth(ctx)
}

// releaseLease releases the lease, for others to continue the conversation.
func (s *Session) releaseLease() {
	if !s.leased {
		return
	}
	s.leased = false
	s.stop(s.renewal)
	s.unheed()
	broken := s.closed
	if s.opening {
		broken = nil // whoever opens it tells
	}
	refusals, seq, at := s.refusals, s.core.Record().Seq, s.alarm()
	release := func() { // the lease ends last, so that no worker comes in between
		s.host.refused(context.Background(), s.ID, broken, refusals)
		ctx, cancel := context.WithTimeout(context.Background(), s.host.Lease)
		defer cancel()
		if !at.IsZero() { // else it is as the last append has set it
			s.host.setAlarm(ctx, s.ID, seq, at)
		}
		_ = s.host.Store.Release(ctx, s.ID, s.writer) // without it the lease ends by itself
		s.host.untrackHolder(s)
	}
	if s.closed != nil {
		s.spawn(release) // the caller that closes a session does not wait for the store
		return
	}
	release()
}

// releaseIfIdle releases the lease of a conversation that nothing happens in until a control comes. The control may
// come to another process. The session watches the log meanwhile.
func (s *Session) releaseIfIdle() {
	if !s.leased || s.inControl || s.closed != nil || !s.core.Started() || s.core.HasWork() {
		return
	}
	s.releaseLease()
	s.listen()
}
