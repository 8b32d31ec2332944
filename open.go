package debate

import (
	"context"
	"errors"
)

// open continues a stored debate. If it is open in this host, that session is returned.
func (h *host) open(ctx context.Context, id string) (*session, error) {
	if s, err := h.beginOpening(ctx, id); s != nil || err != nil {
		return s, err
	}
	return h.openStored(ctx, id)
}

// openStored opens a debate for which beginOpening has returned neither a session nor an error.
func (h *host) openStored(ctx context.Context, id string) (*session, error) {
	core, err := h.load(ctx, id)
	if err != nil {
		_ = h.endOpening(id, nil)
		return nil, err
	}
	s := h.newSession(core)
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

// create stores a whole log under a new id. If the id exists that is an [ErrConflict].
func (h *host) create(ctx context.Context, op, id string, events []Event) error {
	if h.isShut() {
		return ErrClosed
	}
	writer := h.newWriter()
	if err := h.retryStore(ctx.Done(), func() error { return h.store.Append(ctx, id, 0, writer, events) }); err != nil {
		return storeError(op, err)
	}
	return nil
}

// beginOpening lets one caller at a time open a debate. It returns the session of a debate that is open. It returns
// nil if the caller is to open the debate, and then to call endOpening. While another caller opens the debate,
// beginOpening waits.
func (h *host) beginOpening(ctx context.Context, id string) (*session, error) {
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
			return nil, ErrClosed
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

// endOpening ends what beginOpening began, and registers s as the session of the debate; nil: it was not opened. The
// error is that the host was shut down meanwhile. The lock of s is held.
func (h *host) endOpening(id string, s *session) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.opening[id])
	delete(h.opening, id)
	switch {
	case s == nil || s.closed != nil || s.over.Load():
		return nil
	case h.shut:
		return ErrClosed
	default:
		h.sessions[s.id] = s
		return nil
	}
}

// endOpening ends the opening of this session's debate, and registers opened; nil: it was not opened.
func (s *session) endOpening(opened *session) error {
	s.opening = false
	return s.host.endOpening(s.id, opened)
}

// start begins a debate that is ready, or continues it if it is stored. freeze makes the signal with which the log
// begins. It gets the one that the checks of the config have made; nil: they made none.
func (s *session) start(ctx context.Context, freeze func(r *Record, checked *Start) (*Start, error)) error {
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

func (s *session) startLocked(ctx context.Context, freeze func(*Record, *Start) (*Start, error)) error {
	if err := s.core.refusal(TriggerStart); err != nil {
		return err
	}
	checked := s.checked
	s.checked = nil
	start, err := freeze(s.core.Record(), checked)
	if err != nil {
		return err
	}
	switch open, err := s.host.beginOpening(ctx, s.id); {
	case err != nil:
		return err
	case open != nil:
		return &Error{Kind: KindConflict, Op: string(TriggerStart), Field: "id", Err: ErrLeased}
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

// startLeased starts the debate, or continues it if it is stored.
func (s *session) startLeased(ctx context.Context, start *Start) error {
	stored, err := s.host.load(ctx, s.id)
	switch {
	case err == nil:
		err = s.adopt(ctx, stored)
	case !errors.Is(err, ErrNotFound):
	case ctx.Err() != nil:
		err = ctx.Err()
	default:
		err = s.control(context.WithoutCancel(ctx), *start)
	}
	return err
}

// adopt continues a stored debate, if it has the same config.
func (s *session) adopt(ctx context.Context, stored *Core) error {
	if err := s.host.same(stored.Record(), s.core.Record()); err != nil {
		return err
	}
	s.core = stored
	s.resetSaved()
	return s.continueWork(context.WithoutCancel(ctx))
}

// continueStored continues the debate if it has work. Else it watches its log, unless the debate is over.
func (s *session) continueStored(ctx context.Context) error {
	switch {
	case s.core.over():
		s.over.Store(true)
		return nil
	case !s.core.hasWork():
		s.listen()
		return nil
	}
	if err := s.takeOver(ctx); err != nil {
		return err
	}
	return s.continueWork(context.WithoutCancel(ctx))
}

// same reports how the config of this session's debate differs from that of another session, which nobody else
// uses.
func (s *session) same(other *session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.host.same(s.core.Record(), other.core.Record())
}

// unlockOpened unlocks a session after an attempt to open its debate. If the session is closed, it waits until the
// lease is released, or ctx is done: the next caller to open the debate then finds it free. It returns err.
func (s *session) unlockOpened(ctx context.Context, err error) error {
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
