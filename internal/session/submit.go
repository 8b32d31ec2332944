package session

import (
	"context"
	"errors"

	"github.com/agonist-dev/debate/flow"
)

// Submit stores the beginning of a conversation that is ready, and leaves the rest to whoever opens it: no call is made, and
// the session ends. freeze is that of [Session.Start]. A stored conversation of this id with the same config is left as it is.
func (s *Session) Submit(ctx context.Context, freeze func(r *flow.Record, checked *flow.Start) (*flow.Start, error)) error {
	defer s.Close()
	if err := s.mu.enter(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	given := s.core.Record()
	err := s.submitLocked(ctx, freeze)
	if errors.Is(err, flow.ErrConflict) { // somebody was faster
		var stored *flow.Core
		if stored, err = s.host.Load(ctx, s.ID); err == nil {
			err = s.host.Same(stored.Record(), given)
		}
	}
	return err
}

func (s *Session) submitLocked(ctx context.Context, freeze func(*flow.Record, *flow.Start) (*flow.Start, error)) error {
	if err := s.core.Refusal(flow.TriggerStart); err != nil {
		return err
	}
	start, err := freeze(s.core.Record(), s.checked)
	if err != nil {
		return err
	}
	files, err := s.givenFiles(ctx)
	if err != nil {
		return err
	}
	out, err := s.core.StepDrain(NewInput(*start))
	if err != nil {
		return err
	}
	if err := s.host.Create(ctx, "submit", s.ID, files, out.Events); err != nil {
		return err
	}
	s.host.Log(s.ID, out.Events)
	return nil
}
