package session

import (
	"context"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// Rest waits until no process needs to work on the conversation for longer than far: it needs none, at least until a limit of
// its time is reached, or no call is in flight and the next one is due later. Then it sets the alarm for that call, drains the session,
// and returns when nothing of it runs any more. The error is why the session is closed, or that of ctx: a session that drains by then
// drains on.
func (s *Session) Rest(ctx context.Context, far time.Duration) (flow.Next, error) {
	w := s.addWatcher(0, false)
	defer s.removeWatcher(w)
	for {
		w.asleep.Store(forFacts)
		next, done, err := s.rest(ctx, far)
		switch {
		case err != nil:
			return flow.Next{}, err
		case done:
			if err := s.drainWithin(ctx, flow.ErrClosed); err != nil {
				return next, err
			}
			s.host.Counts.Rested.Add(1)
			return next, nil
		}
		select {
		case <-w.wake:
		case <-ctx.Done():
			return flow.Next{}, ctx.Err()
		}
	}
}

// rest reports whether the conversation rests now, and what Rest returns.
func (s *Session) rest(ctx context.Context, far time.Duration) (next flow.Next, done bool, err error) {
	if err := s.mu.enter(ctx); err != nil {
		return flow.Next{}, false, err
	}
	defer s.mu.Unlock()
	r := s.core.Record()
	next = flow.Next{Over: s.over.Load(), State: r.State, Round: r.Round, Seq: r.Seq}
	switch {
	case next.Over:
		next.Idle = true
	case s.closed != nil:
		return flow.Next{}, false, s.closed
	case !s.hasWork():
		next.Idle = true
		if wake := s.core.Wake(); !wake.IsZero() {
			next.Wait = s.until(wake)
		}
	case s.timer != nil && len(s.flights) == 0 && r.InFlight() == 0 && s.until(s.due) > far:
		next.Wait, s.far = s.until(s.due), r.Seq
	default:
		return flow.Next{}, false, nil
	}
	return next, true, nil
}

// hasWork reports whether a process needs to work on the conversation now, or so soon that another clock may say now. The lock is held.
func (s *Session) hasWork() bool {
	if s.core.HasWork() {
		return true
	}
	wake := s.core.Wake()
	return !wake.IsZero() && s.until(wake) <= clockSlack
}
