package session

import (
	"context"
	"errors"

	"github.com/agonist-dev/debate/flow"
)

// Do brings a control to the conversation. A session without a lease acquires it for that. If another process has the
// lease, the control is appended to the log, and that process acts on it. If the engine lacks what the conversation
// needs, Do refuses the control with that error.
func (s *Session) Do(ctx context.Context, signal flow.Signal) error {
	if err := s.mu.enter(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if s.closed == nil && !s.leased && !s.over.Load() && s.core.Started() {
		switch err := s.takeOver(ctx); {
		case errors.Is(err, flow.ErrLeased):
			return s.forward(context.WithoutCancel(ctx), signal)
		case err != nil:
			return err
		}
		s.inControl = true
		defer func() {
			s.inControl = false
			s.releaseIfIdle()
		}()
		if s.core.HasWork() {
			if err := s.continueWork(context.WithoutCancel(ctx)); err != nil {
				return err
			}
		}
	}
	return s.control(context.WithoutCancel(ctx), signal)
}

// control steps a signal. Other goroutines make the calls that follow. The lock is held.
func (s *Session) control(ctx context.Context, signal flow.Signal) error {
	first, err := s.apply(ctx, signal)
	s.goMake(first)
	return err
}

// forward appends a control to the log of a conversation that another process has the lease of.
func (s *Session) forward(ctx context.Context, signal flow.Signal) error {
	log := ledger{way: forwarded{s}}
	out, _, err := log.advance(ctx, signal)
	if err != nil || len(out.Events) == 0 {
		return err
	}
	s.core = log.core
	s.publishFolded()
	s.finishIfOver()
	return nil
}

// forwarded is the way of a session into a log that another process has the lease of.
type forwarded struct{ *Session }

func (f forwarded) load(ctx context.Context) (*flow.Core, []flow.Event, error) {
	log, err := f.reload(ctx)
	if err != nil {
		return nil, nil, err
	}
	core, err := f.host.NewCore(f.ID, log) // the session's own must not hold what nobody has saved
	return core, log, err
}

func (f forwarded) feed(core *flow.Core, in flow.Input) (flow.Output, error) { return remote(core, in) }

// Control brings a control to a conversation, whether or not it is open in this host.
func (h *Host) Control(ctx context.Context, id string, signal flow.Signal) error {
	if s := h.Session(id); s != nil {
		if err := s.Do(ctx, signal); !errors.Is(err, flow.ErrMissing) {
			return err
		}
	}
	core, err := h.forward(ctx, id, signal)
	if err != nil || !core.Record().Final() || core.Over() {
		return err
	}
	return h.finishCalls(context.WithoutCancel(ctx), id)
}

// forward appends a control to the log of a conversation that is not open in this host, and returns what the log then says.
func (h *Host) forward(ctx context.Context, id string, signal flow.Signal) (*flow.Core, error) {
	if _, err := h.Now(ctx, "control"); err != nil {
		return nil, err
	}
	log := ledger{way: &outsider{host: h, id: id, writer: h.newWriter(), op: "control"}}
	_, _, err := log.advance(ctx, signal)
	return log.core, err
}

// loadLate folds a stored log, and then what has been appended meanwhile: to fold a long log takes longer than a fast conversation
// takes for a step, and whoever steps a core that is behind finds a conflict.
func (h *Host) loadLate(ctx context.Context, id string) (*flow.Core, []flow.Event, error) {
	log, err := h.Read(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	core, err := h.NewCore(id, log)
	if err != nil {
		return nil, nil, err
	}
	late, err := h.foldOn(ctx, id, core)
	if errors.Is(err, flow.ErrRewritten) {
		return h.loadLate(ctx, id)
	}
	if err != nil {
		return nil, nil, err
	}
	return core, append(log, late...), nil
}

// finishCalls records what the calls in flight have cost in a conversation that a control has just ended, if nobody has
// its lease. No worker would look for such a conversation.
func (h *Host) finishCalls(ctx context.Context, id string) error {
	if open, err := h.beginOpening(ctx, id); open != nil || errors.Is(err, flow.ErrClosed) {
		return nil // an open session does it; a host that is shut leaves it
	} else if err != nil {
		return err
	}
	s, err := h.openStored(ctx, id, nil)
	if err != nil {
		if errors.Is(err, flow.ErrLeased) || errors.Is(err, flow.ErrClosed) {
			return nil // the process that has the lease does it
		}
		return err
	}
	s.Close()
	return nil
}
