package debate

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

// apply is the one way into the core: step, save, then show and start. It yields one of the calls
// that follow, for its caller to go on with, also beside an error; the others are started. The lock
// is held.
func (s *Session) apply(ctx context.Context, signal Signal) (*flight, error) {
	if s.closed != nil {
		return nil, s.closed
	}
	if !s.leased && s.core.started() { // somebody else goes on with it
		switch signal.(type) {
		case Result, Failed, Lost, Tick, Opened:
			return nil, nil //nolint:nilnil // no call follows
		}
	}
	defer func() { s.core.returnBuffer(&s.live.buffers) }()
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
	if s.core.over() {
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
		s.core.borrowBuffer(&s.live.buffers)
		out, err = s.core.Step(s.live.input(signal))
		if err != nil {
			if broken := s.core.err(); broken != nil {
				s.drop(broken)
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
