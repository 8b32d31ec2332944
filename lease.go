package debate

import (
	"context"
	"errors"
	"time"
)

// defaultLease is the time of a lease unless the engine says otherwise: long enough for a pause of the
// garbage collector, a busy machine or a database that changes over, short enough for who waits.
const defaultLease = 15 * time.Second

// claim lets one at a time open a debate in this engine, so that nobody sees a session that does not have
// it yet: it yields the session that has, or makes the caller the one who opens it, and has to grant.
func (l *live) claim(ctx context.Context, id string) (held *Session, err error) {
	for {
		l.mu.Lock()
		end, busy := l.opening[id]
		held, shut := l.sessions[id], l.shut
		if held == nil && !busy && !shut {
			l.opening[id] = make(chan struct{})
		}
		l.mu.Unlock()
		switch {
		case shut:
			return nil, ErrClosed
		case held != nil || !busy:
			return held, nil
		}
		select {
		case <-end:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// unclaim ends the session's claim: held is the session if it has the debate now, or nil.
func (s *Session) unclaim(held *Session) error {
	s.claimed = false
	return s.live.grant(s.id, held)
}

// grant ends a claim. The session, if there is one, is the one of this engine from now on; the error is that
// the engine was shut down meanwhile. The session's lock is held.
func (l *live) grant(id string, s *Session) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.opening[id])
	delete(l.opening, id)
	switch {
	case s == nil || s.closed != nil || s.over.Load():
		return nil
	case l.shut:
		return ErrClosed
	default:
		l.sessions[s.id] = s
		return nil
	}
}

func (l *live) forget(s *Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sessions[s.id] == s {
		delete(l.sessions, s.id)
	}
}

// hold keeps a session known, for Shutdown, for as long as it may have a lease: also before it is the one of
// its debate, and when it is no longer.
func (l *live) hold(s *Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holders[s] = struct{}{}
}

func (l *live) unhold(s *Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.holders, s)
}

// take leases the debate: from now on this session, and nobody else, goes on with it.
func (s *Session) take(ctx context.Context) error {
	s.live.hold(s)
	if err := s.renew(ctx); err != nil {
		s.live.unhold(s)
		return storeError("lease", err)
	}
	s.leased = true
	s.unlisten()
	s.renewLater()
	return nil
}

// renew takes the lease, or lengthens it. Its time is counted from before the store was asked.
func (s *Session) renew(ctx context.Context) error {
	var bound callContext
	bound.attach(ctx)
	bound.limit(s.live.lease)
	defer bound.cancel()
	now := time.Now()
	err := s.live.store.Lease(&bound, s.id, s.writer, s.live.lease)
	if err == nil {
		s.renewed = now
	}
	return err
}

// sure makes certain that the lease has not run out unnoticed, as it may on a machine that slept.
func (s *Session) sure(ctx context.Context) error {
	if !s.leased || time.Since(s.renewed) < s.live.lease {
		return nil
	}
	return s.renew(ctx)
}

// renewLater keeps the lease for as long as the session has it.
func (s *Session) renewLater() {
	var renewal *time.Timer
	renewal = s.after(s.live.lease/3, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.leased && s.renewal == renewal {
			s.beat()
		}
		if s.leased && s.renewal == renewal {
			s.renewLater()
		}
	})
	s.renewal = renewal
}

// beat renews the lease, and takes up what others have appended without it: answers and controls.
func (s *Session) beat() {
	ctx, cancel := context.WithTimeout(context.Background(), s.live.lease/3)
	defer cancel()
	if err := s.renew(ctx); errors.Is(err, ErrLeased) {
		s.drop(storeError("lease", err))
		return
	} else if err != nil {
		return // it may pass until the lease ends
	}
	grew, err := s.catchUp(ctx)
	if grew {
		if err = s.disown(context.Background()); err == nil {
			err = s.control(context.Background(), Tick{})
		}
	}
	if errors.Is(err, ErrNotFound) {
		s.drop(err)
	}
}

// release gives the lease back, for others to go on.
func (s *Session) release() {
	if !s.leased {
		return
	}
	s.leased = false
	s.stop(s.renewal)
	if s.closed == nil {
		s.giveBack()
		return
	}
	s.spawn(s.giveBack) // who closes a session has no time
}

func (s *Session) giveBack() {
	ctx, cancel := context.WithTimeout(context.Background(), s.live.lease)
	defer cancel()
	_ = s.live.store.Release(ctx, s.id, s.writer) // it ends by itself
	s.live.unhold(s)
}

// rest lets go of the lease of a debate in which nothing happens until somebody says something:
// whoever does may be in another process. The session goes on listening.
func (s *Session) rest() {
	if !s.leased || s.engaged || s.closed != nil || !s.core.started() || s.core.hasWork() {
		return
	}
	s.release()
	s.listen()
}
