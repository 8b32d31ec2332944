package debate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// session is a debate that this process has open: its core, its calls, its lease and its readers. It is safe for
// concurrent use.
//
// A session has no goroutine of its own that drives it. The goroutine that made a call steps the core with the
// result, under the lock, and makes the next call. So a debate of one call at a time runs on one goroutine. A
// session that waits for a person has one that watches the log, for the person may answer in another process.
type session struct {
	host   *host
	id     string
	writer string // this session's token for the store
	facade any    // what the engine hands out for this session

	mu            gate // guards what follows, down to running
	core          *Core
	checked       *Start // what the debate starts with, if the checks of its config have made it
	flights       []*flight
	lastParts     int   // how many chunks the last turn had
	closed        error // why the session takes no more signals; nil: it does
	opening       bool  // the debate is being opened: others in this host wait for the outcome
	leased        bool
	renewed       time.Time   // when the lease was last renewed
	renewal       *time.Timer // of the lease
	stopListening func()      // nil: the session does not watch the log
	inControl     bool        // a control is being stepped: the lease is not released yet
	maybeAppended bool        // the last append took several tries: an earlier one may have succeeded
	timer         *time.Timer // for the next Tick
	running       int         // goroutines, and timers that have not fired

	life       context.Context       // ends when the session is to be closed
	cancel     func()                // ends life
	done       chan struct{}         // closed when nothing of a closed session runs any more
	savedState atomic.Value          // State
	flow       atomic.Pointer[Flow]  // of the core
	savedSeq   atomic.Int64          // the number of the last event that is saved
	firstSeq   atomic.Int64          // the number of the last event from before this session
	over       atomic.Bool           // nothing more can be recorded
	closedErr  atomic.Pointer[error] // closed, for readers, who do not wait for a slow store

	readers  sync.Mutex // guards streams, and changes to watchers
	streams  []*stream  // the turns that are being spoken
	watchers atomic.Pointer[[]*watcher]
}

// newSession makes a session that is not registered yet.
func (h *host) newSession(core *Core) *session {
	s := &session{
		host: h, id: core.Record().ID, core: core, mu: newGate(), done: make(chan struct{}), writer: h.newWriter(),
	}
	s.life, s.cancel = context.WithCancel(context.Background())
	s.resetSaved()
	s.watchers.Store(&[]*watcher{})
	s.facade = h.facade(s)
	return s
}

// resetSaved makes the core's log the one from before this session.
func (s *session) resetSaved() {
	s.savedSeq.Store(s.core.Record().Seq)
	s.firstSeq.Store(s.core.Record().Seq)
	s.publishState()
}

// publishState shows the core's state, which is saved.
func (s *session) publishState() {
	s.flow.Store(s.core.machine.flow)
	if state := s.core.Record().State; s.savedState.Load() != state {
		s.savedState.Store(state)
	}
}

// state returns the debate's state, as it is saved.
func (s *session) state() State {
	state, _ := s.savedState.Load().(State)
	return state
}

// replace replaces the core of a debate that has not started with what build returns.
func (s *session) replace(build func() (*Core, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed != nil {
		return s.closed
	}
	if err := s.core.refusal(TriggerEdit); err != nil {
		return err
	}
	core, err := build()
	if err != nil {
		return err
	}
	s.core, s.checked = core, nil
	s.publishState()
	return nil
}

// validate steps Validate, runs check without the lock, and steps the outcome. check returns what the debate starts
// with, if it had to make that, and what is wrong with the config; validate returns the latter.
func (s *session) validate(ctx context.Context, check func(*Record) (*Start, error)) error {
	if err := s.mu.enter(ctx); err != nil {
		return err
	}
	core := s.core
	_, err := s.apply(ctx, Validate{})
	s.mu.Unlock()
	if err != nil {
		return err
	}
	start, found := check(core.Record())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.core != core || core.Record().State != StateValidating {
		return &Error{Kind: KindState, Op: "validate", Err: errors.New("the debate was canceled in the meantime")}
	}
	if _, err := s.apply(ctx, Validated{OK: found == nil}); err != nil {
		return err
	}
	s.checked = start
	return found
}

// outcome reports whether wait has something to return. The record is nil if others may still write it.
func (s *session) outcome(ctx context.Context) (record *Record, done bool, err error) {
	if err := s.mu.enter(ctx); err != nil {
		return nil, true, err
	}
	defer s.mu.Unlock()
	r := s.core.Record()
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

// wait returns when outcome has something to return. The record is nil if the store cannot be read.
func (s *session) wait(ctx context.Context) (*Record, error) {
	w := s.addWatcher(0, false)
	defer s.removeWatcher(w)
	for {
		w.asleep.Store(forStop)
		if record, done, err := s.outcome(ctx); done {
			if record == nil {
				record, _ = s.fold(ctx)
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

// fold folds the saved log, for a reader of its own.
func (s *session) fold(ctx context.Context) (*Record, error) {
	core, err := s.host.load(ctx, s.id)
	if err != nil {
		return nil, err
	}
	return core.Record(), nil
}

// record is fold for a debate that has started; else it returns an error of kind state.
func (s *session) record(ctx context.Context) (*Record, error) {
	if err := s.recorded("record"); err != nil {
		return nil, err
	}
	return s.fold(ctx)
}

// log returns the saved log of a debate that has started; else it returns an error of kind state that names op.
func (s *session) log(ctx context.Context, op string) ([]Event, error) {
	if err := s.recorded(op); err != nil {
		return nil, err
	}
	return s.host.read(ctx, s.id)
}

func (s *session) recorded(op string) error {
	if s.savedSeq.Load() > 0 {
		return nil
	}
	return &Error{Kind: KindState, Op: op, Err: fmt.Errorf("nothing is recorded in state %s", s.state())}
}
