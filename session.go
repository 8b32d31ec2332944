package debate

import (
	"context"
	"errors"
	"fmt"
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
	claimed bool  // it is being opened: others in this engine wait for what becomes of it
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
	if err := s.core.refusal(TriggerEdit); err != nil {
		return err
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
	if closed := s.closed; closed != nil {
		s.mu.Unlock()
		return closed
	}
	err := s.open(ctx)
	return s.leave(ctx, err)
}

// open is Start under the lock.
func (s *Session) open(ctx context.Context) error {
	if err := s.core.refusal(TriggerStart); err != nil {
		return err
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
	s.claimed = true
	if err := s.take(ctx); err != nil {
		_ = s.unclaim(nil)
		return err
	}
	if err = s.begun(ctx, start); err == nil {
		err = s.unclaim(s)
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

// Wait returns the record when the debate is over. It also returns, with a record of that moment,
// when the debate comes to the error state (the error is its *[Error]) or waits for a person
// ([ErrAwaitingInput]), and when the session is closed ([ErrClosed], or what has ended it). The record is nil
// then if nothing is stored of the debate, or if the store fails. When ctx is done Wait returns its error
// alone.
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
