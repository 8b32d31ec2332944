package session

import (
	"context"
	"errors"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Open continues a stored conversation. If it is open in this host, that session is returned.
func (h *Host) Open(ctx context.Context, id string) (*Session, error) {
	if s, err := h.beginOpening(ctx, id); s != nil || err != nil {
		return s, err
	}
	return h.openStored(ctx, id)
}

// openStored opens a conversation for which beginOpening has returned neither a session nor an error.
func (h *Host) openStored(ctx context.Context, id string) (*Session, error) {
	core, err := h.Load(ctx, id)
	if err != nil {
		_ = h.endOpening(id, nil)
		return nil, err
	}
	s := h.NewSession(core)
	s.mu.Lock()
	s.opening = true
	if err = s.continueStored(ctx); err == nil {
		err = s.endOpening(s)
	}
	if err != nil {
		s.closeWith(err)
		return nil, s.unlockOpened(ctx, err)
	}
	s.mu.Unlock()
	return s, nil
}

// Create stores a whole log under a new id. If the id exists that is an [flow.ErrConflict].
func (h *Host) Create(ctx context.Context, op, id string, events []flow.Event) error {
	if h.isShut() {
		return flow.ErrClosed
	}
	writer := h.newWriter()
	if err := h.retryStore(ctx.Done(), func() error { return h.Store.Append(ctx, id, 0, writer, events) }); err != nil {
		return StoreError(op, err)
	}
	return nil
}

// beginOpening lets one caller at a time open a conversation. It returns the session of a conversation that is open.
// It returns nil if the caller is to open the conversation, and then to call endOpening. While another caller opens
// the conversation, beginOpening waits.
func (h *Host) beginOpening(ctx context.Context, id string) (*Session, error) {
	for {
		h.mu.Lock()
		end, busy := h.opening[id]
		s, shut := h.sessions[id], h.shut
		if s == nil && !busy && !shut {
			h.opening[id] = make(chan struct{})
		}
		h.mu.Unlock()
		switch {
		case shut:
			return nil, flow.ErrClosed
		case s != nil || !busy:
			return s, nil
		}
		select {
		case <-end:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// endOpening ends what beginOpening began, and registers s as the session of the conversation; nil: it was not
// opened. The error is that the host was shut down meanwhile. The lock of s is held.
func (h *Host) endOpening(id string, s *Session) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.opening[id])
	delete(h.opening, id)
	switch {
	case s == nil || s.closed != nil || s.over.Load():
		return nil
	case h.shut:
		return flow.ErrClosed
	default:
		h.sessions[s.ID] = s
		return nil
	}
}

// endOpening ends the opening of this session's conversation, and registers opened; nil: it was not opened.
func (s *Session) endOpening(opened *Session) error {
	s.opening = false
	return s.host.endOpening(s.ID, opened)
}

// Start begins a conversation that is ready, or continues it if it is stored. freeze makes the signal with which the
// log begins. It gets the one that the checks of the config have made; nil: they made none.
func (s *Session) Start(ctx context.Context, freeze func(r *flow.Record, checked *flow.Start) (*flow.Start, error)) error {
	if err := s.mu.enter(ctx); err != nil {
		return err
	}
	if closed := s.closed; closed != nil {
		s.mu.Unlock()
		return closed
	}
	err := s.startLocked(ctx, freeze)
	return s.unlockOpened(ctx, err)
}

func (s *Session) startLocked(ctx context.Context, freeze func(*flow.Record, *flow.Start) (*flow.Start, error)) error {
	if err := s.core.Refusal(flow.TriggerStart); err != nil {
		return err
	}
	checked := s.checked
	s.checked = nil
	start, err := freeze(s.core.Record(), checked)
	if err != nil {
		return err
	}
	switch open, err := s.host.beginOpening(ctx, s.ID); {
	case err != nil:
		return err
	case open != nil:
		return &flow.Error{Kind: provider.KindConflict, Op: string(flow.TriggerStart), Field: "id", Err: flow.ErrLeased}
	}
	s.opening = true
	if err := s.acquireLease(ctx); err != nil {
		_ = s.endOpening(nil)
		return err
	}
	if err = s.startLeased(ctx, start); err == nil {
		err = s.endOpening(s)
	}
	if err != nil {
		s.closeWith(err)
	}
	return err
}

// startLeased starts the conversation, or continues it if it is stored.
func (s *Session) startLeased(ctx context.Context, start *flow.Start) error {
	stored, err := s.host.Load(ctx, s.ID)
	switch {
	case err == nil:
		err = s.adopt(ctx, stored)
	case !errors.Is(err, flow.ErrNotFound):
	case ctx.Err() != nil:
		err = ctx.Err()
	default:
		err = s.control(context.WithoutCancel(ctx), *start)
	}
	return err
}

// adopt continues a stored conversation, if it has the same config.
func (s *Session) adopt(ctx context.Context, stored *flow.Core) error {
	if err := s.host.Same(stored.Record(), s.core.Record()); err != nil {
		return err
	}
	s.core = stored
	s.resetSaved()
	return s.continueWork(context.WithoutCancel(ctx))
}

// continueStored continues the conversation if it has work. Else it watches its log, unless the conversation is over.
func (s *Session) continueStored(ctx context.Context) error {
	switch {
	case s.core.Over():
		s.over.Store(true)
		return nil
	case !s.core.HasWork():
		s.listen()
		return nil
	}
	if err := s.takeOver(ctx); err != nil {
		return err
	}
	return s.continueWork(context.WithoutCancel(ctx))
}

// Same reports how the config of this session's conversation differs from that of another session, which nobody else
// uses.
func (s *Session) Same(other *Session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.host.Same(s.core.Record(), other.core.Record())
}

// unlockOpened unlocks a session after an attempt to open its conversation. If the session is closed, it waits until
// the lease is released, or ctx is done: the next caller to open the conversation then finds it free. It returns err.
func (s *Session) unlockOpened(ctx context.Context, err error) error {
	closed := s.closed != nil
	s.mu.Unlock()
	if !closed {
		return err
	}
	select {
	case <-s.done:
	case <-ctx.Done():
	}
	return err
}
