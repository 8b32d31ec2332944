package session

import (
	"context"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// another returns flow.ErrNotFound if the conversation with this id began at another time than the one that is meant: that one was
// deleted. A zero time is unknown.
func another(op, id string, meant, began time.Time) error {
	if meant.IsZero() || began.IsZero() || meant.Equal(began) {
		return nil
	}
	return StoreError(op, named(flow.ErrNotFound, id))
}

// Still returns an error if a store has another conversation under an id than the one that began at this time.
func (h *Host) Still(ctx context.Context, op, id string, began time.Time) error {
	if began.IsZero() {
		return nil
	}
	info, err := store.InfoOf(ctx, h.Store, id)
	if err != nil {
		return StoreError(op, err)
	}
	return another(op, id, began, info.StartedAt)
}

// unexpected returns why a control is refused that is to act on this record: the caller expects another one. Other signals are
// expected by nobody.
func unexpected(ctx context.Context, signal flow.Signal, r *flow.Record) error {
	switch signal.(type) {
	case flow.Pause, flow.Resume, flow.Stop, flow.Cancel, flow.Retry, flow.Sent, flow.Note, flow.Answer, flow.Amendment:
		e := flow.ExpectedOf(ctx, r.ID)
		if err := another("control", r.ID, e.StartedAt, r.StartedAt); err != nil || e.Holds == nil {
			return err
		}
		return e.Holds(r)
	default:
		return nil
	}
}

// startedAt returns when the conversation began, as far as it is saved; zero: it has not.
func (s *Session) startedAt() time.Time {
	if at := s.began.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// publishSaved shows that the log is saved up to an event.
func (s *Session) publishSaved(seq int64) {
	if at := s.core.Record().StartedAt; !at.Equal(s.startedAt()) {
		began := at
		s.began.Store(&began)
	}
	s.savedSeq.Store(seq)
}

// left reports whether the session writes no more to the log, whose id may be that of another conversation by now.
func (s *Session) left() bool { return s.over.Load() || s.closedErr.Load() != nil }
