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
// It returns one of those calls, also beside an error: the caller makes it. The call counts as a running goroutine already. The lock
// is held.
func (s *Session) apply(ctx context.Context, signal flow.Signal) (*flight, error) {
	if s.closed != nil {
		s.keepUnsent(signal)
		return nil, s.closed
	}
	if !s.leased && s.core.Started() { // another process continues the conversation
		switch signal.(type) {
		case flow.Result, flow.Failed, flow.Outcomes, flow.Lost, flow.GivenUp, flow.Tick, flow.Opened:
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
	s.abort(out.Abort)
	first, broken := s.startCalls(out.Start)
	s.tickAt(out.Wait)
	if s.core.Over() {
		s.finish()
	}
	if len(out.Events) > 0 || s.over.Load() {
		s.notify()
	}
	s.releaseIfIdle()
	if out.Missing != nil {
		s.drain(out.Missing)
	}
	s.closeIfDrained()
	return first, cmp.Or(err, broken)
}

// step steps a signal and saves the events. conflict reports that somebody else has appended to the log: the log is
// reloaded then, and the signal stepped again. A core that breaks closes the session, and so does a log that cannot be saved or
// reloaded.
func (s *Session) step(ctx context.Context, signal flow.Signal) (out flow.Output, conflict bool, err error) {
	log := ledger{way: s, core: s.core}
	out, conflict, err = log.advance(ctx, signal)
	if broken := s.core.Err(); broken != nil {
		s.closeWith(broken)
	}
	if errors.Is(err, flow.ErrConflict) {
		s.closeWith(err)
	}
	return out, conflict, err
}

func (s *Session) load(ctx context.Context) (*flow.Core, []flow.Event, error) {
	log, err := s.reload(ctx)
	if err != nil {
		s.closeWith(err)
		return nil, nil, err
	}
	return s.core, log, nil
}

func (s *Session) input(core *flow.Core, signal flow.Signal) flow.Input {
	return s.stopwatch.input(core, signal)
}

// feed starts no call if the session drains, or is closed and only records what has become of its calls.
func (s *Session) feed(core *flow.Core, in flow.Input) (flow.Output, error) {
	if s.draining != nil || s.closed != nil {
		return core.StepDrain(in)
	}
	return s.host.crew.step(core, in)
}

// save appends the events of a Step. Canceling ctx does not interrupt an append: ctx only carries values. doubt says that one of
// several tries may have succeeded, whatever err says. An error that is no conflict closes the session.
func (s *Session) save(ctx context.Context, events []flow.Event) (doubt bool, err error) {
	tries := 0
	err = s.retryStore(ctx, func(ctx context.Context) error {
		if err := s.ensureLease(ctx); err != nil {
			return err
		}
		tries++
		return s.host.Store.Append(ctx, s.ID, events[0].Seq-1, s.writer, events)
	})
	if err != nil {
		err = StoreError("save", err)
		if !errors.Is(err, flow.ErrConflict) {
			s.closeWith(err)
		}
		return tries > 1, err
	}
	s.publishSaved(events[len(events)-1].Seq)
	s.host.Log(s.ID, events)
	return false, nil
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
