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
	return nil
}

// renewLease acquires the lease, or extends it. Its time counts from before the store was asked.
func (s *Session) renewLease(ctx context.Context) error {
	var bound callctx.Context
	bound.Attach(ctx)
	bound.Limit(s.host.Lease)
	defer bound.Cancel()
	now := time.Now()
	err := s.host.Store.Lease(&bound, s.ID, s.writer, s.host.Lease)
	if err == nil {
		s.renewed = now
	}
	return err
}

// ensureLease renews a lease whose time is over: on a machine that slept nobody may have noticed.
func (s *Session) ensureLease(ctx context.Context) error {
	if !s.leased || time.Since(s.renewed) < s.host.Lease {
		return nil
	}
	return s.renewLease(ctx)
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
	grew, err := s.catchUp(ctx)
	if grew {
		if err = s.reportLost(context.Background()); err == nil {
			err = s.control(context.Background(), flow.Tick{})
		}
	}
	if errors.Is(err, flow.ErrNotFound) {
		s.closeWith(err)
	}
}

// releaseLease releases the lease, for others to continue the conversation.
func (s *Session) releaseLease() {
	if !s.leased {
		return
	}
	s.leased = false
	s.stop(s.renewal)
	release := func() {
		ctx, cancel := context.WithTimeout(context.Background(), s.host.Lease)
		defer cancel()
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
