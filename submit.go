package debate

import (
	"context"
	"errors"

	"github.com/agonist-dev/debate/flow"
)

// Submit validates a config and stores its debate, as Start does, but does not run it: another process opens it, or this one
// later. It returns the debate's id. [Engine.Due] of a worker finds it.
//
// If a debate exists under config.ID already, nothing is stored. If the configs are the same, Submit returns the id, wherever
// the debate runs and however far it is, and asks no provider anything. If they differ, the error is of kind conflict. So
// who does not know whether a Submit with an id has succeeded repeats it.
//
// To store a new debate, the engine needs all that the config names: providers, judges, tools, context managers and detectors. The
// start freezes what they tell of the models.
func (e *Engine) Submit(ctx context.Context, config flow.Config) (id string, err error) {
	s, err := e.toStart(ctx, config, false)
	if err != nil {
		return "", err
	}
	if flow.Unnamed(config).Terms().ID != "" {
		stored, err := s.engine.host.Load(ctx, s.ID())
		if err == nil {
			err = s.runtime.SameAs(stored.Record())
		}
		if !errors.Is(err, flow.ErrNotFound) {
			return s.submitted(err)
		}
	}
	if err := s.Validate(ctx); err != nil {
		return "", err
	}
	return s.submitted(s.runtime.Submit(ctx, s.engine.frozenStart))
}

func (s *Session) submitted(err error) (string, error) {
	if err != nil {
		return "", err
	}
	return s.ID(), nil
}
