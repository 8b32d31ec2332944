package debate

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

// apply is the one way into the core:
//
//  1. Step the signal.
//  2. Save the events.
//  3. Show them, cancel calls, and start the calls that follow.
//
// It returns one of those calls, also beside an error: the caller makes it. The lock is held.
func (s *session) apply(ctx context.Context, signal Signal) (*flight, error) {
	if s.closed != nil {
		return nil, s.closed
	}
	if !s.leased && s.core.started() { // another process continues the debate
		switch signal.(type) {
		case Result, Failed, Lost, Tick, Opened:
			return nil, nil //nolint:nilnil // no call follows
		}
	}
	out, conflict, err := s.step(ctx, signal)
	if conflict && err != nil && s.closed == nil { // the log that was reloaded may ask for something all the same
		out, _, _ = s.step(ctx, Tick{})
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
				f.ctx.cancel()
			}
		}
	}
	first, broken := s.startCalls(out.Start)
	s.tickAt(out.Wait)
	if s.core.over() {
		s.finish()
	}
	if len(out.Events) > 0 || s.over.Load() {
		s.notify()
	}
	s.releaseIfIdle()
	return first, cmp.Or(err, broken)
}

// step steps a signal and saves the events. conflict reports that somebody else has appended to the log: the log is
// reloaded then, and the signal stepped again.
func (s *session) step(ctx context.Context, signal Signal) (out Output, conflict bool, err error) {
	err = retryConflicts(func() error {
		out, err = s.core.Step(newInput(signal))
		if err != nil {
			if broken := s.core.err(); broken != nil {
				s.closeWith(broken)
			}
			return err
		}
		if len(out.Events) == 0 {
			return nil
		}
		err := s.save(ctx, out.Events)
		if errors.Is(err, ErrConflict) {
			conflict = true
			log, lost := s.reload(ctx)
			if lost != nil {
				s.closeWith(lost)
				return lost
			}
			if s.maybeAppended && contains(log, out.Events) { // the append succeeded, and somebody has written behind it
				signal = Tick{}
			}
			return err
		}
		if err != nil {
			s.closeWith(err)
		}
		return err
	})
	if errors.Is(err, ErrConflict) {
		s.closeWith(err)
	}
	return out, conflict, err
}

// save appends the events of a Step. Canceling ctx does not interrupt an append: ctx only carries values.
func (s *session) save(ctx context.Context, events []Event) error {
	tries := 0
	err := s.retryStore(ctx, func(ctx context.Context) error {
		if err := s.ensureLease(ctx); err != nil {
			return err
		}
		tries++
		return s.host.store.Append(ctx, s.id, events[0].Seq-1, s.writer, events)
	})
	s.maybeAppended = tries > 1
	if err != nil {
		return storeError("save", err)
	}
	s.savedSeq.Store(events[len(events)-1].Seq)
	s.host.log(s.id, events)
	return nil
}

// notMade returns those of the calls to start that are in flight by the log and that this session does not make.
// After a conflict all other calls in flight are reported lost. Some may stem from an append of this session that
// seemed to fail. The session cannot tell, and making a call twice is worse than charging one that was never made.
func (s *session) notMade(start []string) []string {
	var ids []string
	for _, call := range s.core.InFlight() {
		if slices.Contains(start, call.Call) && !s.makes(call) {
			ids = append(ids, call.Call)
		}
	}
	return ids
}
