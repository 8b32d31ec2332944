package debate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Session is a debate that this process holds: its controls and its events. It is safe for
// concurrent use. A session ends when its debate does, or by Close, which leaves the debate as it is
// for somebody to open again.
//
// Nobody drives a session: whoever brings a result decides, under its lock, what follows from it,
// and goes on with the next call. So a debate of one call at a time runs on one goroutine, and so does
// one that waits for a person: it listens to the log, for the person may answer in another process.
type Session struct {
	live *live
	id   string

	mu      gate // of all that follows
	core    *Core
	start   *Start // of the debate, if validating has made it
	flights []*flight
	pieces  int   // in which the last turn came
	closed  error // why the session no longer takes anything; nil: it does
	leased  bool
	renewed time.Time   // when the lease was last taken
	renewal *time.Timer // of the lease
	deafen  func()      // ends listening; nil: the session does not
	engaged bool        // in a control: it does not rest yet
	doubt   bool        // the last append was tried again: an earlier try may have succeeded
	timer   *time.Timer
	writer  string // this session's token for the store
	running int    // goroutines that make calls, and timers

	life  context.Context       // ends when somebody wants to close the session
	hurry func()                // ends life
	quiet chan struct{}         // closed when nothing is left of a closed session
	shown atomic.Value          // State: as it is saved
	seq   atomic.Int64          // of the last event that is saved
	base  atomic.Int64          // of the last event from before this session
	over  atomic.Bool           // the debate is final, and nothing is in flight
	gone  atomic.Pointer[error] // closed, for readers, who do not wait for a slow store

	readers  sync.Mutex // of the streams that are open, and of changes to the list of watchers
	streams  []*stream
	watchers atomic.Pointer[[]*watcher]
}

// PauseMode says what a pause does with the calls in flight.
type PauseMode int

// Drain lets the calls in flight finish. Without it they are broken off, and what they have cost is charged.
const Drain PauseMode = 1

func (l *live) newSession(config *Config) (*Session, error) {
	core, err := l.coreFor(config)
	if err != nil {
		return nil, err
	}
	return l.session(core), nil
}

// coreFor makes the core of a debate that is still to be configured.
func (l *live) coreFor(config *Config) (*Core, error) {
	if err := CheckID(config.ID); err != nil {
		return nil, err
	}
	core, err := l.core(config.ID, nil)
	if err != nil {
		return nil, err
	}
	_, err = core.Step(l.input(Edit{Config: *config}))
	return core, err
}

func (l *live) session(core *Core) *Session {
	s := &Session{
		live: l, id: core.record.ID, core: core, mu: newGate(), quiet: make(chan struct{}),
		writer: l.owner + "/" + strconv.FormatInt(l.writers.Add(1), 10),
	}
	s.life, s.hurry = context.WithCancel(context.Background())
	s.stand()
	s.watchers.Store(&[]*watcher{})
	return s
}

// stand makes the core's log the one that was there before this session.
func (s *Session) stand() {
	s.seq.Store(s.core.record.Seq)
	s.base.Store(s.core.record.Seq)
	s.show()
}

// show lets everybody see the state, which is saved.
func (s *Session) show() {
	if state := s.core.record.State; s.shown.Load() != state {
		s.shown.Store(state)
	}
}

// ID is the debate's id.
func (s *Session) ID() string { return s.id }

// State is the debate's present state, as it is saved.
func (s *Session) State() State {
	state, _ := s.shown.Load().(State)
	return state
}

// Edit replaces the config of a debate that has not started; the id stays.
func (s *Session) Edit(config Config) error {
	config.ID = s.id
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed != nil {
		return s.closed
	}
	if !s.core.machine.allows(s.core.record, TriggerEdit) {
		return s.core.machine.refusal(s.core.record, TriggerEdit)
	}
	core, err := s.live.coreFor(&config)
	if err != nil {
		return err
	}
	s.core, s.start = core, nil
	s.show()
	return nil
}

// Validate checks the config, and its models with the providers that can tell; then the debate is
// ready. The error joins one *[Error] per field, and leaves it in configuring.
func (s *Session) Validate(ctx context.Context) error {
	if err := s.mu.enter(ctx); err != nil {
		return err
	}
	config := s.core.record.config
	core := s.core
	_, err := s.apply(ctx, Validate{})
	s.mu.Unlock()
	if err != nil {
		return err
	}
	start, found := s.live.validate(ctx, config)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.core != core || core.record.State != StateValidating {
		return &Error{Kind: KindState, Op: "validate", Err: errors.New("the debate was canceled in the meantime")}
	}
	if _, err := s.apply(ctx, Validated{OK: found == nil}); err != nil {
		return err
	}
	s.start = start
	return found
}

// Start begins a debate that is ready. If the store holds a debate of this id it is opened, given
// that its config is the same; else the error is of kind conflict and names the difference.
func (s *Session) Start(ctx context.Context) error {
	if err := s.mu.enter(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if s.closed != nil {
		return s.closed
	}
	if !s.core.machine.allows(s.core.record, TriggerStart) {
		return s.core.machine.refusal(s.core.record, TriggerStart)
	}
	start, err := s.start, error(nil)
	if s.start = nil; start == nil {
		start, err = s.live.start(s.core.record.config)
	}
	if err != nil {
		return err
	}
	switch held, err := s.live.claim(ctx, s.id); {
	case err != nil:
		return err
	case held != nil:
		return &Error{Kind: KindConflict, Op: string(TriggerStart), Field: "id", Err: ErrLeased}
	}
	if err := s.take(ctx); err != nil {
		_ = s.live.grant(s.id, nil)
		return err
	}
	if err = s.begun(ctx, start); err != nil {
		_ = s.live.grant(s.id, nil)
	} else {
		err = s.live.grant(s.id, s)
	}
	if err != nil {
		s.drop(err)
	}
	return err
}

// begun starts the debate, or goes on with it if it is stored.
func (s *Session) begun(ctx context.Context, start *Start) error {
	stored, err := s.live.load(ctx, s.id)
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

// Pause stops new calls. Those in flight are broken off, or finish if mode is Drain.
func (s *Session) Pause(ctx context.Context, mode ...PauseMode) error {
	return s.do(ctx, Pause{Drain: len(mode) > 0 && mode[0] == Drain})
}

// Resume goes on after a pause.
func (s *Session) Resume(ctx context.Context) error { return s.do(ctx, Resume{}) }

// Stop ends the rounds: the verdict is given on what has been said. Without a turn, or after an
// error, the debate ends without one.
func (s *Session) Stop(ctx context.Context) error { return s.do(ctx, Stop{}) }

// Cancel ends the debate without a verdict. Calls in flight are broken off.
func (s *Session) Cancel(ctx context.Context) error { return s.do(ctx, Cancel{}) }

// Retry goes back to where an error has stopped the debate. Nothing that has a result is repeated.
func (s *Session) Retry(ctx context.Context) error { return s.do(ctx, Retry{}) }

// Acknowledge says that the cost warning was seen.
func (s *Session) Acknowledge(ctx context.Context) error { return s.do(ctx, Acknowledge{}) }

// Answer answers an open inquiry by its id.
func (s *Session) Answer(ctx context.Context, inquiry, text string) error {
	return s.do(ctx, Answer{Inquiry: inquiry, Text: text})
}

// Choose answers an open inquiry about a failed call with one of its options. OptionModel takes the
// model that takes over, "provider/model"; its prices and sizes are frozen as those of the others were.
func (s *Session) Choose(ctx context.Context, inquiry string, option Option, model ...string) error {
	answer := Answer{Inquiry: inquiry, Option: option}
	if len(model) > 0 {
		answer.Model = model[0]
	}
	answer, err := s.live.answer(answer)
	if err != nil {
		return err
	}
	return s.do(ctx, answer)
}

// Send brings an input of the flow's own. payload is recorded as JSON; nil: none.
func (s *Session) Send(ctx context.Context, trigger Trigger, payload any) error {
	sent := Sent{Trigger: trigger}
	if payload != nil {
		data, err := json.Marshal(payload)
		if err != nil {
			return &Error{Kind: KindValidation, Op: "send", Field: "payload", Err: err}
		}
		sent.Payload = data
	}
	return s.do(ctx, sent)
}

// do brings a control. A session at rest takes the debate up for it; if somebody else has, they act on
// the control.
func (s *Session) do(ctx context.Context, signal Signal) error {
	if err := s.mu.enter(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if s.closed == nil && !s.leased && !s.over.Load() && s.core.record.start != nil {
		switch err := s.assume(ctx); {
		case errors.Is(err, ErrLeased):
			return s.note(context.WithoutCancel(ctx), signal)
		case err != nil:
			return err
		}
		s.engaged = true
		defer func() {
			s.engaged = false
			s.rest()
		}()
		if s.attends() {
			if err := s.wake(context.WithoutCancel(ctx)); err != nil {
				return err
			}
		}
	}
	return s.control(context.WithoutCancel(ctx), signal)
}

// control steps a signal and lets other goroutines make the calls that follow.
func (s *Session) control(ctx context.Context, signal Signal) error {
	first, err := s.apply(ctx, signal)
	if first != nil {
		s.spawn(first)
	}
	return err
}

// apply is the one way into the core: step, save, then show and start. It yields one of the calls
// that follow, for its caller to go on with, also beside an error; the others are started. The lock
// is held.
func (s *Session) apply(ctx context.Context, signal Signal) (*flight, error) {
	if s.closed != nil {
		return nil, s.closed
	}
	if !s.leased && s.core.record.start != nil { // somebody else goes on with it
		switch signal.(type) {
		case Result, Failed, Lost, Tick, Opened:
			return nil, nil //nolint:nilnil // no call follows
		}
	}
	out, clash, err := s.step(ctx, signal)
	if clash && err != nil && s.closed == nil { // the log that was read anew asks for something all the same
		out, _, _ = s.step(ctx, Tick{})
	}
	if s.closed != nil || err != nil && !clash {
		return nil, err
	}
	if clash {
		out.Start = s.missing(out.Start)
		defer func() {
			if s.closed == nil {
				_ = s.disown(ctx)
			}
		}()
	}
	s.show()
	for _, id := range out.Abort {
		for _, f := range s.flights {
			if f.command.Call == id {
				f.ctx.cancel()
			}
		}
	}
	first, broken := s.launch(out.Start)
	s.tickAt(out.Wait)
	if s.core.record.Final() && s.core.record.InFlight() == 0 {
		s.finish()
	}
	if len(out.Events) > 0 || s.over.Load() {
		s.notify()
	}
	s.rest()
	return first, cmp.Or(err, broken)
}

// step steps a signal and saves what follows. If the log has grown by what somebody else has appended,
// it is read anew and the signal is stepped again: clash.
func (s *Session) step(ctx context.Context, signal Signal) (out Output, clash bool, err error) {
	err = untangle(func() error {
		out, err = s.core.Step(s.live.input(signal))
		if err != nil {
			if s.core.broken != nil {
				s.drop(s.core.broken)
			}
			return err
		}
		if len(out.Events) == 0 {
			return nil
		}
		err := s.save(ctx, out.Events)
		if errors.Is(err, ErrConflict) {
			clash = true
			log, lost := s.refold(ctx)
			if lost != nil {
				s.drop(lost)
				return lost
			}
			if s.doubt && stands(log, out.Events) { // it has succeeded, and somebody has written behind it
				signal = Tick{}
			}
			return err
		}
		if err != nil {
			s.drop(err)
		}
		return err
	})
	if errors.Is(err, ErrConflict) {
		s.drop(err)
	}
	return out, clash, err
}

// save appends what a Step gave. Once it is tried it is not broken off half-way: ctx only gives values.
func (s *Session) save(ctx context.Context, events []Event) error {
	tries := 0
	err := s.insist(ctx, func(ctx context.Context) error {
		if err := s.sure(ctx); err != nil {
			return err
		}
		tries++
		return s.live.store.Append(ctx, s.id, events[0].Seq-1, s.writer, events)
	})
	s.doubt = tries > 1
	if err != nil {
		return storeError("save", err)
	}
	s.seq.Store(events[len(events)-1].Seq)
	s.live.log(s.id, events)
	return nil
}

// insist is live's, until somebody wants to close the session.
func (s *Session) insist(ctx context.Context, try func(context.Context) error) error {
	return s.live.insist(s.life.Done(), func() error {
		var bound callContext
		bound.attach(ctx)
		bound.limit(s.live.lease)
		defer bound.cancel()
		return try(&bound)
	})
}

// missing yields those of the calls to start that are in flight by the log, and that nobody makes. What else
// is in flight then is given up, though it may be of an append of one's own that seemed to have failed: nobody
// can tell for sure, and to make a call twice is worse than to charge one that was never made.
func (s *Session) missing(start []string) []string {
	var ids []string
	for _, call := range s.core.InFlight() {
		if slices.Contains(start, call.Call) && !s.making(call) {
			ids = append(ids, call.Call)
		}
	}
	return ids
}

// finish lets go of a debate that is over.
func (s *Session) finish() {
	s.over.Store(true)
	s.live.forget(s)
	s.unlisten()
	s.release()
}

// Close lets go of the debate, which stays as it is: calls in flight are broken off and not
// recorded, the lease is released, and another process may open it. Close returns when nothing of
// the session runs any more, so it must not be called from within a provider. It may be called
// again; its error is always nil.
func (s *Session) Close() error {
	s.hurry()
	s.mu.Lock()
	s.drop(ErrClosed)
	s.mu.Unlock()
	<-s.quiet
	return nil
}

// detach is Close for at most as long as ctx lasts.
func (s *Session) detach(ctx context.Context) error {
	s.hurry()
	if err := s.mu.enter(ctx); err != nil {
		return err
	}
	s.drop(ErrClosed)
	s.mu.Unlock()
	select {
	case <-s.quiet:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// drop ends the session for the given reason. The lock is held.
func (s *Session) drop(reason error) {
	if s.closed != nil {
		return
	}
	s.closed = reason
	s.gone.Store(&reason)
	s.tickAt(time.Time{})
	for _, f := range s.flights {
		f.ctx.cancel()
	}
	s.live.forget(s)
	s.unlisten()
	s.release()
	s.settle()
	s.notify()
}

// settle tells that nothing of a closed session runs any more. The lock is held.
func (s *Session) settle() {
	if s.closed == nil || s.running > 0 {
		return
	}
	select {
	case <-s.quiet:
	default:
		close(s.quiet)
	}
}

// Wait returns the record when the debate is over. It also returns, with a record of that moment,
// when the debate comes to the error state (the error is its *[Error]) or waits for a person
// ([ErrAwaitingInput]), and when the session is closed. When ctx is done it returns its error alone.
func (s *Session) Wait(ctx context.Context) (*Record, error) {
	w := s.watch(0, false)
	defer s.unwatch(w)
	for {
		w.asleep.Store(forRest)
		if record, done, err := s.outcome(ctx); done {
			if record == nil {
				record, _ = s.snapshot(ctx)
			}
			return record, err
		}
		select {
		case <-w.wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// outcome tells whether Wait has something to return. The record is nil where others still write it.
func (s *Session) outcome(ctx context.Context) (record *Record, done bool, err error) {
	if err := s.mu.enter(ctx); err != nil {
		return nil, true, err
	}
	defer s.mu.Unlock()
	r := s.core.record
	switch {
	case s.over.Load():
		return r, true, nil
	case s.closed != nil:
		return nil, true, s.closed
	case r.State == StateError:
		return nil, true, r.Failure
	case r.State == StateAwaitingInput:
		return nil, true, ErrAwaitingInput
	default:
		return nil, false, nil
	}
}

// snapshot folds the saved log anew, for a reader of its own.
func (s *Session) snapshot(ctx context.Context) (*Record, error) {
	core, err := s.live.load(ctx, s.id)
	if err != nil {
		return nil, err
	}
	return core.record, nil
}

// Record yields the debate as it is now. It is the caller's own.
func (s *Session) Record(ctx context.Context) (*Record, error) {
	if s.seq.Load() == 0 {
		return nil, &Error{Kind: KindState, Op: "record", Err: fmt.Errorf("nothing is recorded in state %s", s.State())}
	}
	return s.snapshot(ctx)
}
