package session

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/agonist-dev/debate/flow"
)

// apply is the one way into the core:
//
//  1. Step the signal.
//  2. Save the events.
//  3. Show them, cancel calls, and start the calls that follow.
//
// It returns one of those calls, also beside an error: the caller makes it. The lock is held.
func (s *Session) apply(ctx context.Context, signal flow.Signal) (*flight, error) {
	if s.closed != nil {
		return nil, s.closed
	}
	if !s.leased && s.core.Started() { // another process continues the conversation
		switch signal.(type) {
		case flow.Result, flow.Failed, flow.Lost, flow.Late, flow.Tick, flow.Opened:
			return nil, nil //nolint:nilnil // no call follows
		}
	}
	out, conflict, err := s.step(ctx, signal)
	if conflict && err != nil && s.closed == nil { // the log that was reloaded may ask for something all the same
		out, _, _ = s.step(ctx, flow.Tick{})
	}
	if s.closed != nil || err != nil && !conflict {
		return nil, err
	}
	if conflict {
		out.Start = s.notMade(out.Start)
		defer func() {
			if s.closed == nil {
				_ = s.reportLost(ctx)
			}
		}()
	}
	s.publishState()
	for _, id := range out.Abort {
		for _, f := range s.flights {
			if f.command.Call == id {
				s.cancelCall(f)
			}
		}
	}
	first, broken := s.startCalls(out.Start)
	s.tickAt(out.Wait)
	if s.core.Over() {
		s.finish()
	}
	if len(out.Events) > 0 || s.over.Load() {
		s.notify()
	}
	s.releaseIfIdle()
	if out.Lacks != nil {
		s.drain(out.Lacks)
	}
	s.closeIfDrained()
	return first, cmp.Or(err, broken)
}

// step steps a signal and saves the events. conflict reports that somebody else has appended to the log: the log is
// reloaded then, and the signal stepped again.
func (s *Session) step(ctx context.Context, signal flow.Signal) (out flow.Output, conflict bool, err error) {
	err = retryConflicts(func() error {
		if s.draining != nil {
			out, err = s.core.StepDrain(NewInput(signal))
		} else {
			out, err = s.host.crew.step(s.core, NewInput(signal))
		}
		grown, err := s.saveStep(ctx, out.Events, err)
		if !grown {
			return err
		}
		conflict = true
		log, lost := s.reload(ctx)
		if lost != nil {
			s.closeWith(lost)
			return lost
		}
		if s.maybeAppended && contains(log, out.Events) { // the append succeeded, and somebody has written behind it
			signal = flow.Tick{}
		}
		return err
	})
	if errors.Is(err, flow.ErrConflict) {
		s.closeWith(err)
	}
	return out, conflict, err
}

// saveStep saves the events of a Step that returned err. A broken core closes the session.
func (s *Session) saveStep(ctx context.Context, events []flow.Event, err error) (conflict bool, _ error) {
	if broken := s.core.Err(); broken != nil {
		s.closeWith(broken)
	}
	if err != nil {
		return false, err
	}
	return s.saveEvents(ctx, events)
}

// saveEvents saves events. An append that fails closes the session, unless it fails with a conflict: the log has grown
// meanwhile.
func (s *Session) saveEvents(ctx context.Context, events []flow.Event) (conflict bool, _ error) {
	if len(events) == 0 {
		return false, nil
	}
	err := s.save(ctx, events)
	if conflict = errors.Is(err, flow.ErrConflict); err != nil && !conflict {
		s.closeWith(err)
	}
	return conflict, err
}

// save appends the events of a Step. Canceling ctx does not interrupt an append: ctx only carries values.
func (s *Session) save(ctx context.Context, events []flow.Event) error {
	tries := 0
	err := s.retryStore(ctx, func(ctx context.Context) error {
		if err := s.ensureLease(ctx); err != nil {
			return err
		}
		tries++
		return s.host.Store.Append(ctx, s.ID, events[0].Seq-1, s.writer, events)
	})
	s.maybeAppended = tries > 1
	if err != nil {
		return StoreError("save", err)
	}
	s.savedSeq.Store(events[len(events)-1].Seq)
	s.host.Log(s.ID, events)
	return nil
}

// notMade returns those of the calls to start that are in flight by the log and that this session does not make.
// After a conflict all other calls in flight are reported lost. Some may stem from an append of this session that
// seemed to fail. The session cannot tell, and making a call twice is worse than charging one that was never made.
func (s *Session) notMade(start []string) []string {
	var ids []string
	for _, call := range s.core.InFlight() {
		if slices.Contains(start, call.Call) && !s.makes(call) {
			ids = append(ids, call.Call)
		}
	}
	return ids
}
