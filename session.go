package debate

import (
	"context"
	"iter"
)

// Session is a debate that this process holds: its controls and its events. It is safe for
// concurrent use. A session ends when its debate does, or by Close, which leaves the debate as it is
// for somebody to open again.
//
// No goroutine drives a session. The one that brings a result decides, under the session's lock, what follows,
// and makes the next call. So a debate of one call at a time runs on one goroutine. So does one that waits for a
// person: it watches the log, for the person may answer in another process.
type Session struct {
	live    *live
	runtime *session
}

// facade returns what callers see of a session: always the same Session.
func facade(s *session) *Session {
	out, _ := s.facade.(*Session)
	return out
}

// newSession makes a session of a debate that is still to be configured.
func (l *live) newSession(p *plan) (*Session, error) {
	core, err := l.configured(p)
	if err != nil {
		return nil, err
	}
	return facade(l.host.newSession(core)), nil
}

// configured makes the core of a debate that has a config and has not started.
func (l *live) configured(p *plan) (*Core, error) {
	if err := CheckID(p.terms.ID); err != nil {
		return nil, err
	}
	core, err := l.core(p.terms.ID, nil)
	if err != nil {
		return nil, err
	}
	_, err = core.Step(newInput(Edit{Flow: p.machine.flow.Name, Config: p.config, Terms: p.terms}))
	return core, err
}

// ID is the debate's id.
func (s *Session) ID() string { return s.runtime.id }

// State is the debate's present state, as it is saved.
func (s *Session) State() State { return s.runtime.state() }

// Edit replaces the config of a debate that has not started; the id stays.
func (s *Session) Edit(config FlowConfig) error {
	p, err := s.live.plan(config, false)
	if err != nil {
		return err
	}
	p.terms.ID = s.ID()
	return s.runtime.replace(func() (*Core, error) { return s.live.configured(p) })
}

// Validate checks the config, and its models with the providers that can tell; then the debate is
// ready. The error joins one *[Error] per field, and leaves it in configuring.
func (s *Session) Validate(ctx context.Context) error {
	return s.runtime.validate(ctx, func(r *Record) (*Start, error) { return s.live.validate(ctx, s.live.planOf(r), nil) })
}

// Start begins a debate that is ready. If the store holds a debate of this id it is opened, given
// that its config is the same; else the error is of kind conflict and names the difference.
func (s *Session) Start(ctx context.Context) error { return s.start(ctx, nil) }

// start is Start for a debate that is forked from parent; nil: it is not forked.
func (s *Session) start(ctx context.Context, parent *Parent) error {
	return s.runtime.start(ctx, func(r *Record, checked *Start) (*Start, error) {
		start, err := checked, error(nil)
		if start == nil {
			start, err = s.live.start(s.live.planOf(r))
		}
		if err != nil {
			return nil, err
		}
		start.Parent = parent
		return start, nil
	})
}

// Wait returns the record when the debate is over. It also returns, with a record of that moment,
// when the debate comes to the error state (the error is its *[Error]) or waits for a person
// ([ErrAwaitingInput]), and when the session is closed ([ErrClosed], or what has ended it). The record is nil
// then if nothing is stored of the debate, or if the store fails. When ctx is done Wait returns its error
// alone.
func (s *Session) Wait(ctx context.Context) (*Record, error) { return s.runtime.wait(ctx) }

// Record yields the debate as it is now. It is the caller's own.
func (s *Session) Record(ctx context.Context) (*Record, error) { return s.runtime.record(ctx) }

// Events yields the numbered events after the given number, then those that happen, and between them
// the chunks of turns as they are spoken. It ends after the debate's last event, or with an error:
// ctx is done, or the session was closed.
//
// Each reader has its own pace and slows nobody. One that is slow gets chunks merged, which
// Chunk.Parts counts, and never loses a fact. One that joins in the middle of a turn first gets its
// text so far. No chunk follows its call's result: the chunks of the attempt that succeeds add up to
// the turn's text, whether or not the provider streams, and whether or not the reader was there when
// it was spoken. A chunk whose Offset is less than what was had so far replaces it from there on. Turns that
// come without chunks are those from before the session was opened, and structured answers.
func (s *Session) Events(ctx context.Context, after int64) iter.Seq2[Event, error] {
	return s.runtime.events(ctx, after)
}

// Close lets go of the debate, which stays as it is: calls in flight are broken off and not
// recorded, the lease is released, and another process may open it. Close returns when nothing of
// the session runs any more, so it must not be called from within a provider. It may be called
// again; its error is always nil.
func (s *Session) Close() error {
	s.runtime.close()
	return nil
}
