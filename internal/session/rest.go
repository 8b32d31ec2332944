package session

import (
	"context"
	"time"
)

// Rest is how a conversation stands while no process needs to work on it.
type Rest struct {
	Seq int64     // the number of the last event that is saved
	Due time.Time // when the next call may start, by the clock of this process; zero: nothing happens by itself
}

// WaitRest waits until no process needs to work on the conversation for longer than far: it needs none at all, or no call is
// in flight and the next one is due later. The error is why the session is closed, or that of ctx.
func (s *Session) WaitRest(ctx context.Context, far time.Duration) (Rest, error) {
	w := s.addWatcher(0, false)
	defer s.removeWatcher(w)
	for {
		w.asleep.Store(forFacts)
		if rest, done, err := s.rest(ctx, far); done || err != nil {
			return rest, err
		}
		select {
		case <-w.wake:
		case <-ctx.Done():
			return Rest{}, ctx.Err()
		}
	}
}

// rest reports whether WaitRest would return now, and what.
func (s *Session) rest(ctx context.Context, far time.Duration) (rest Rest, done bool, err error) {
	if err := s.mu.enter(ctx); err != nil {
		return Rest{}, false, err
	}
	defer s.mu.Unlock()
	rest.Seq = s.core.Record().Seq
	switch {
	case s.over.Load():
		return rest, true, nil
	case s.closed != nil:
		return Rest{}, false, s.closed
	case !s.core.HasWork():
		return rest, true, nil
	case s.timer != nil && len(s.flights) == 0 && s.core.Record().InFlight() == 0 && time.Until(s.due) > far:
		rest.Due = s.due
		return rest, true, nil
	default:
		return Rest{}, false, nil
	}
}

// Drain lets the calls in flight finish, starts none, and closes the session. It returns when nothing of it runs any more,
// or ctx is done: then it drains on.
func (s *Session) Drain(ctx context.Context) error { return s.drainWithin(ctx) }
