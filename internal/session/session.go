// Package session holds one conversation in this process.
package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/piece"
	"github.com/agonist-dev/debate/provider"
)

// Session is a conversation that this process has open: its core, its calls, its lease and its readers. It is safe for
// concurrent use.
//
// A session has no goroutine of its own that drives it. The goroutine that made a call steps the core with the
// result, under the lock, and makes the next call. So a conversation of one call at a time runs on one goroutine. A
// session that waits for a person has one that watches the log, for the person may answer in another process.
type Session struct {
	host   *Host
	ID     string
	writer string // this session's token for the store
	Facade any    // what the engine hands out for this session

	mu            gate // guards what follows, down to running
	core          *flow.Core
	checked       *flow.Start // what the conversation starts with, if the checks of its config have made it
	flights       []*flight
	landing       landing       // those whose results were not stepped yet; it has a lock of its own
	lastParts     int32         // how many chunks the last turn had
	closed        error         // why the session takes no more signals; nil: it does
	drained       chan struct{} // closed with the session; nil: nobody waits for that
	draining      error         // why no call is started any more, and the session closes once none is in flight; nil: calls start
	ending        bool          // the session is closed, and releases its lease once its calls have returned, or soon
	unsent        flow.Outcomes // what has come of calls that were canceled before they were sent
	opening       bool          // the conversation is being opened: others in this host wait for the outcome
	leased        bool
	renewal       *time.Timer // of the lease
	stopWatch     func()      // ends the store's watch for what others append; nil: there is none
	stopListening func()      // nil: the session does not watch the log
	refusals      int         // how often the conversation could not be opened before this session was
	inControl     bool        // a control is being stepped: the lease is not released yet
	timer         *time.Timer // for the next Tick
	due           time.Time   // when it fires
	far           int64       // where the log ended when the next call was found to be due long after; 0: it was not
	running       int         // goroutines, and timers that have not fired

	heed heed // what the host's looks know of the session; they guard it

	life       context.Context           // ends when the session is to be closed
	cancel     func()                    // ends life
	done       chan struct{}             // closed when nothing of a closed session runs any more
	savedState atomic.Value              // State
	flow       atomic.Pointer[flow.Flow] // of the core
	renewed    atomic.Pointer[time.Time] // when the lease was last renewed
	terms      atomic.Int64              // how many leases followed a time without one
	savedSeq   atomic.Int64              // the number of the last event that is saved
	began      atomic.Pointer[time.Time] // when the conversation began; nil: nothing of it is saved
	firstSeq   atomic.Int64              // the number of the last event from before this session
	over       atomic.Bool               // nothing more can be recorded
	closedErr  atomic.Pointer[error]     // closed, for readers, who do not wait for a slow store
	abandoned  atomic.Bool               // the store does not return to whoever holds the lock

	stopwatch stopwatch // for the times of events

	key   *piece.Key // of the conversation on the host's bus; nil: it is not known yet
	files shelf      // the bytes of the conversation's files

	readers  sync.Mutex // guards streams, and changes to watchers
	streams  []*stream  // the turns that are being spoken
	watchers atomic.Pointer[[]*watcher]
}

// NewSession makes a session that is not registered yet.
func (h *Host) NewSession(core *flow.Core) *Session {
	s := &Session{
		host: h, ID: core.Record().ID, core: core, mu: newGate(), done: make(chan struct{}), writer: h.newWriter(),
		stopwatch: stopwatch{clock: &h.clock},
	}
	s.life, s.cancel = context.WithCancel(context.Background())
	s.resetSaved()
	s.watchers.Store(&[]*watcher{})
	s.Facade = h.Facade(s)
	return s
}

// resetSaved makes the core's log the one from before this session.
func (s *Session) resetSaved() {
	s.publishSaved(s.core.Record().Seq)
	s.firstSeq.Store(s.core.Record().Seq)
	s.publishState()
}

// publishState shows the core's state, which is saved.
func (s *Session) publishState() {
	s.flow.Store(s.core.Flow())
	if state := s.core.Record().State; s.savedState.Load() != state {
		s.savedState.Store(state)
	}
}

// State returns the conversation's state, as it is saved.
func (s *Session) State() flow.State {
	state, _ := s.savedState.Load().(flow.State)
	return state
}

// After returns the number of the last event from before this session.
func (s *Session) After() int64 { return s.firstSeq.Load() }

// Replace replaces the core of a conversation that has not started with what build returns.
func (s *Session) Replace(build func() (*flow.Core, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed != nil {
		return s.closed
	}
	if err := s.core.Refusal(flow.TriggerEdit); err != nil {
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

// Validate steps [flow.Validate], runs check without the lock, and steps the outcome. check returns what is wrong with
// the config, which Validate returns too. If check had to make the start of the conversation, it returns that as well.
// Its warnings are recorded at the start.
func (s *Session) Validate(ctx context.Context, check func(*flow.Record) (*flow.Start, []flow.Warning, error)) error {
	if err := s.mu.enter(ctx); err != nil {
		return err
	}
	core := s.core
	_, err := s.apply(ctx, flow.Validate{})
	s.mu.Unlock()
	if err != nil {
		return err
	}
	start, warnings, found := check(core.Record())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.core != core || core.Record().State != flow.StateValidating {
		return &flow.Error{Kind: provider.KindState, Op: "validate", Err: errors.New("the conversation was canceled in the meantime")}
	}
	if _, err := s.apply(ctx, flow.Validated{OK: found == nil, Warnings: warnings}); err != nil {
		return err
	}
	s.checked = start
	return found
}

// Outcome reports whether [Session.Wait] would return now, and what. The record is nil if others may still write it.
func (s *Session) Outcome(ctx context.Context, idle bool) (record *flow.Record, done bool, err error) {
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
	case idle && s.hasWork():
		return nil, false, nil
	case idle && r.State == flow.StatePaused:
		return nil, true, flow.ErrPaused
	case r.State == flow.StateError:
		return nil, true, r.Failure
	case r.State == flow.StateAwaitingInput:
		return nil, true, &flow.AwaitingInputError{Inquiries: slices.Clone(r.Inquiries)}
	default:
		return nil, false, nil
	}
}

// Wakes reports whether a wait for a person has an end: the time of a question, or a limit of the conversation's time.
func (s *Session) Wakes(ctx context.Context) bool {
	if s.mu.enter(ctx) != nil {
		return false
	}
	defer s.mu.Unlock()
	return !s.core.Wake().IsZero()
}

// Wait waits until [Session.Outcome] is done, and returns its record and error. If idle is set, it waits until no process
// needs to work on the conversation, and a pause ends the wait too. The record is nil if the store cannot be read.
func (s *Session) Wait(ctx context.Context, idle bool) (*flow.Record, error) {
	w := s.addWatcher(0, false)
	defer s.removeWatcher(w)
	for {
		w.asleep.Store(forStop)
		if record, done, err := s.Outcome(ctx, idle); done {
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

// fold folds the saved log, for a reader of its own. The record tells which calls wait for their turn.
func (s *Session) fold(ctx context.Context) (*flow.Record, error) {
	core, err := s.host.Load(ctx, s.ID)
	if err != nil {
		return nil, err
	}
	if err := s.mu.enter(ctx); err != nil && ctx.Err() == nil {
		return core.Record(), nil // the lock is lost, and with it what waits for its turn
	} else if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	for _, f := range s.flights {
		if f.ctx.Waits() {
			core.Queue(f.command.Call, f.command.Attempt)
		}
	}
	return core.Record(), nil
}

// Record folds the saved log, for a reader of its own. If the conversation has not started, the error is of kind
// state.
func (s *Session) Record(ctx context.Context) (*flow.Record, error) {
	if err := s.recorded("record"); err != nil {
		return nil, err
	}
	return s.fold(ctx)
}

// Log returns the saved log. If the conversation has not started, the error is of kind state and names op.
func (s *Session) Log(ctx context.Context, op string) ([]flow.Event, error) {
	if err := s.recorded(op); err != nil {
		return nil, err
	}
	return s.host.Read(ctx, s.ID)
}

func (s *Session) recorded(op string) error {
	if s.savedSeq.Load() > 0 {
		return nil
	}
	err := fmt.Errorf("nothing is recorded in state %s", s.State())
	return &flow.Error{Kind: provider.KindState, Op: op, Err: flow.WithMend(err, "start the conversation")}
}
