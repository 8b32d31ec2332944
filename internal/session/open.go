package session

import (
	"cmp"
	"context"
	"errors"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Open continues a stored conversation. If it is open in this host, that session is returned, and shared is set. If the record does
// not pass the check, its error is returned, and nothing has changed; nil: all do.
func (h *Host) Open(ctx context.Context, id string, check func(*flow.Record) error) (s *Session, shared bool, err error) {
	s, err = h.beginOpening(ctx, id)
	if s == nil && err == nil {
		s, err = h.openStored(ctx, id, check)
		h.Counts.opened(err)
		return s, false, err
	}
	if s != nil && check != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		err = check(s.core.Record())
	}
	if err != nil {
		return nil, false, err
	}
	return s, true, nil
}

// openStored opens a conversation for which beginOpening has returned neither a session nor an error.
func (h *Host) openStored(ctx context.Context, id string, check func(*flow.Record) error) (*Session, error) {
	rested, err := h.mayOpen(ctx, id)
	if err != nil {
		_ = h.endOpening(id, nil)
		return nil, err
	}
	core, err := h.Load(ctx, id)
	if err == nil && check != nil {
		if err := check(core.Record()); err != nil {
			_ = h.endOpening(id, nil)
			return nil, err
		}
	}
	if err == nil {
		err = core.Missing()
	}
	if err != nil {
		h.refused(ctx, id, err, 0)
		_ = h.endOpening(id, nil)
		return nil, err
	}
	s := h.NewSession(core)
	s.mu.Lock()
	s.opening = true
	if !core.Over() {
		err = s.readFiles(ctx, core.Record())
	}
	if err == nil {
		err = s.continueStored(ctx, rested)
	}
	h.refused(ctx, id, err, 0)
	if err == nil {
		s.refusals = h.letOut(ctx, id)
		err = s.endOpening(s)
	}
	if err != nil {
		s.closeWith(err)
		return nil, s.unlockOpened(ctx, err)
	}
	s.mu.Unlock()
	return s, nil
}

// Create stores a whole log with its files under a new id. If the id exists, that is a [flow.ErrConflict], and nothing is
// stored.
func (h *Host) Create(ctx context.Context, op, id string, files map[string][]byte, events []flow.Event) error {
	if err := h.Refusal(); err != nil {
		return err
	}
	writer := h.newWriter()
	if len(files) > 0 { // they are stored before the log: no other conversation may get them
		if err := h.retryStore(ctx.Done(), func() error { return h.Store.Lease(ctx, id, writer, h.Lease) }); err != nil {
			return StoreError(op, err)
		}
		defer func() { _ = h.Store.Release(context.WithoutCancel(ctx), id, writer) }()
		if _, err := h.Read(ctx, id); err == nil {
			return StoreError(op, flow.ErrConflict)
		} else if !errors.Is(err, flow.ErrNotFound) {
			return err
		}
		if err := h.PutFiles(ctx, id, files); err != nil {
			return err
		}
	}
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
			return nil, errShut
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
// opened. The error is that the host was shut down meanwhile, and its time to drain is over. The lock of s is held.
func (h *Host) endOpening(id string, s *Session) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.opening[id])
	delete(h.opening, id)
	switch {
	case s == nil || s.closed != nil || s.over.Load():
		return nil
	case h.aborts:
		return errShut
	default:
		h.sessions[s.ID] = s
		h.announceOpening(s.ID)
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
	first, err := s.start(ctx, freeze)
	s.goMake(first)
	return err
}

// Begin is Start, but leaves the first call to the caller: play makes it, and those that follow one another, on the goroutine of
// the caller. Other goroutines make what is asked beside them. If the error is nil, the caller calls play exactly once, also if ctx has
// ended meanwhile: [Session.Finish] does so.
//
// If the code that a call runs ends its goroutine, or panics, that is the caller's goroutine.
func (s *Session) Begin(
	ctx context.Context, freeze func(r *flow.Record, checked *flow.Start) (*flow.Start, error),
) (play func(), err error) {
	first, err := s.start(ctx, freeze)
	if err != nil {
		return nil, err
	}
	return func() {
		if first != nil {
			s.run(func() { s.makeCalls(first) })
		}
	}, nil
}

// Finish calls play, unless it is nil, and waits as [Session.Wait] does until no process needs to work on the conversation. Then it
// closes the session, and returns what Wait has returned. If ctx ends, the session is closed at once.
//
// Nothing of the session runs when Finish returns, also if the code of a call panics or ends the goroutine. If such code ignores that the
// call was given up, the conversation goes on without it, but Finish does not return before it does.
func (s *Session) Finish(ctx context.Context, play func()) (*flow.Record, error) {
	defer s.Close()
	stay := context.AfterFunc(ctx, s.Close)
	defer stay()
	if play != nil {
		play()
	}
	return s.Wait(ctx, true)
}

// start is Start, but for the first call, which it returns for the caller to make. Beside an error there is none.
func (s *Session) start(
	ctx context.Context, freeze func(*flow.Record, *flow.Start) (*flow.Start, error),
) (first *flight, err error) {
	if err := s.mu.enter(ctx); err != nil {
		return nil, err
	}
	if closed := s.closed; closed != nil {
		s.mu.Unlock()
		return nil, closed
	}
	if first, err = s.startLocked(ctx, freeze); err != nil {
		s.goMake(first) // the session is closed, and the call broken off
		first = nil
	}
	return first, s.unlockOpened(ctx, err)
}

func (s *Session) startLocked(
	ctx context.Context, freeze func(*flow.Record, *flow.Start) (*flow.Start, error),
) (first *flight, err error) {
	if err := s.core.Refusal(flow.TriggerStart); err != nil {
		return nil, err
	}
	checked := s.checked
	s.checked = nil
	start, err := freeze(s.core.Record(), checked)
	if err != nil {
		return nil, err
	}
	switch open, err := s.host.beginOpening(ctx, s.ID); {
	case err != nil:
		return nil, err
	case open != nil:
		return nil, &flow.Error{Kind: provider.KindConflict, Op: string(flow.TriggerStart), Field: "id", Err: flow.ErrLeased}
	}
	s.opening = true
	if err := s.acquireLease(ctx); err != nil {
		_ = s.endOpening(nil)
		return nil, err
	}
	s.stopwatch.start()
	if first, err = s.startLeased(ctx, start); err == nil {
		err = s.endOpening(s)
	}
	if err != nil {
		s.closeWith(err)
	}
	return first, err
}

// startLeased starts the conversation, and returns a call that follows, for the caller to make, also beside an error. If the conversation
// is stored, startLeased continues it.
func (s *Session) startLeased(ctx context.Context, start *flow.Start) (first *flight, err error) {
	stored, err := s.host.Load(ctx, s.ID)
	switch {
	case err == nil:
		return nil, s.adopt(ctx, stored)
	case !errors.Is(err, flow.ErrNotFound):
		return nil, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	if err := s.storeFiles(ctx); err != nil {
		return nil, err
	}
	first, err = s.apply(context.WithoutCancel(ctx), *start)
	return first, cmp.Or(err, s.closed)
}

// begin is control for the signal with which this session continues its work. If the engine lacks what is due, the session
// is closed, and begin returns why.
func (s *Session) begin(ctx context.Context, signal flow.Signal) error {
	err := s.control(ctx, signal)
	return cmp.Or(err, s.closed)
}

// adopt continues a stored conversation, if it has the same config.
func (s *Session) adopt(ctx context.Context, stored *flow.Core) error {
	if err := s.host.Same(stored.Record(), s.core.Record()); err != nil {
		return err
	}
	if err := stored.Missing(); err != nil {
		return err
	}
	if err := s.readFiles(ctx, stored.Record()); err != nil {
		return err
	}
	s.core = stored
	s.resetSaved()
	return s.continueWork(context.WithoutCancel(ctx))
}

// continueStored continues the conversation if it has work. Else it watches its log, unless the conversation is over. For rested see
// [Host.mayOpen].
func (s *Session) continueStored(ctx context.Context, rested int64) error {
	switch {
	case s.core.Over():
		s.over.Store(true)
		return nil
	case !s.core.HasWork():
		s.host.keepAlarm(ctx, s.core)
		s.listen()
		return nil
	}
	if err := s.takeOver(ctx); err != nil {
		return err
	}
	if s.core.Record().Seq == rested { // the wait counts as time of the round and of an outage, as if the session had stayed open
		return s.begin(context.WithoutCancel(ctx), flow.Tick{})
	}
	return s.continueWork(context.WithoutCancel(ctx))
}

// SameAs reports how the config of a stored conversation differs from that of this session, which has not started and
// which nobody else uses.
func (s *Session) SameAs(stored *flow.Record) error { return s.host.Same(stored, s.core.Record()) }

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
