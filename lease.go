package debate

import (
	"context"
	"errors"
	"time"
)

// leaseTime is how long a lease lasts; it is renewed at half-time.
const leaseTime = time.Minute

// take leases the debate and makes this session the one that the engine opens.
func (s *Session) take(ctx context.Context) error {
	l := s.live
	l.mu.Lock()
	if other := l.sessions[s.id]; other != nil && other != s {
		l.mu.Unlock()
		return &Error{Kind: KindConflict, Op: string(TriggerStart), Field: "id", Err: ErrLeased}
	}
	l.sessions[s.id] = s
	l.mu.Unlock()
	if err := l.store.Lease(ctx, s.id, l.owner, leaseTime); err != nil {
		l.forget(s)
		return storeError("lease", err)
	}
	s.leased = true
	s.renewLater()
	return nil
}

// renewLater keeps the lease for as long as the session has it.
func (s *Session) renewLater() {
	s.running++
	s.renewal = time.AfterFunc(leaseTime/2, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running--
		if s.leased {
			err := s.live.store.Lease(context.Background(), s.id, s.live.owner, leaseTime)
			if errors.Is(err, ErrLeased) {
				s.drop(storeError("lease", err))
			} else {
				s.renewLater() // whatever else has failed may pass until the lease ends
			}
		}
		s.settle()
	})
}

func (l *live) forget(s *Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sessions[s.id] == s {
		delete(l.sessions, s.id)
	}
}

func (s *Session) release() {
	s.live.forget(s)
	if s.leased {
		s.leased = false
		if s.renewal.Stop() {
			s.running--
		}
		_ = s.live.store.Release(context.Background(), s.id, s.live.owner) // it ends by itself
	}
}
