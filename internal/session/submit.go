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
	if errors.Is(err, flow.ErrConflict) || errors.Is(err, flow.ErrLeased) { // somebody was faster
		if stored, lost := s.host.Load(ctx, s.ID); lost == nil {
			return s.host.Same(stored.Record(), given)
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
	if _, err := s.host.Now(ctx, "submit"); err != nil {
		return err
	}
	out, err := s.core.StepDrain(s.stopwatch.input(s.core, *start))
	if err != nil {
		return err
	}
	if err := s.create(ctx, files, out.Events); err != nil {
		return err
	}
	s.host.Log(s.ID, out.Events)
	return nil
}

// create stores the log. If another process has the lease and there is no log yet, that one may be storing the same conversation:
// create tries again until it has done so, or for as long as a lease lasts.
func (s *Session) create(ctx context.Context, files map[string][]byte, events []flow.Event) error {
	create := func() error { return s.host.Create(ctx, "submit", s.ID, files, events) }
	err := s.host.retry(ctx.Done(), create, func(err error) bool {
		if !errors.Is(err, flow.ErrLeased) {
			return true
		}
		_, lost := s.host.Load(ctx, s.ID)
		return !errors.Is(lost, flow.ErrNotFound)
	})
	if errors.Is(err, flow.ErrLeased) && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
