package debate

import (
	"context"
	"errors"
	"slices"
	"time"
)

// listen lets a session that does not hold its debate see what others append to its log, and take the
// debate up when it goes on and nobody holds it.
func (s *Session) listen() {
	ctx, stop := context.WithCancel(s.life)
	s.deafen = stop
	s.spawn(func() {
		defer stop()
		s.hear(ctx)
	})
}

// unlisten ends that.
func (s *Session) unlisten() {
	if s.deafen != nil {
		s.deafen()
		s.deafen = nil
	}
}

// hear looks at the log whenever it may have grown, until ctx is done or the session needs it no more.
func (s *Session) hear(ctx context.Context) {
	grown, every := (<-chan struct{})(nil), pollInterval
	if w, ok := s.live.store.(Watcher); ok {
		grown, every = w.Watch(ctx, s.id), s.live.lease // by then a holder that is gone has lost its lease
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for ctx.Err() == nil && s.attend(ctx) {
		select {
		case _, open := <-grown:
			if !open {
				grown = nil
			}
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

// attend takes up what the log has grown by. It reports whether there is more to listen for.
func (s *Session) attend(ctx context.Context) bool {
	if s.mu.enter(ctx) != nil {
		return false
	}
	defer s.mu.Unlock()
	if s.closed != nil || s.leased || ctx.Err() != nil {
		return false
	}
	if _, err := s.catchUp(ctx); err != nil {
		if errors.Is(err, ErrNotFound) || s.core.err() != nil {
			s.drop(err)
			return false
		}
		return true // a store that fails may recover
	}
	if !s.core.hasWork() {
		return !s.finished()
	}
	if s.assume(ctx) == nil {
		_ = s.wake(context.Background()) // whoever waits for the session learns of an error
	}
	return s.closed == nil && !s.leased && !s.over.Load()
}

// finished lets go of a debate that somebody else has brought to its end.
func (s *Session) finished() bool {
	if !s.core.over() {
		return false
	}
	s.finish()
	s.notify()
	return true
}

// assume takes the debate up where its log ends. If it cannot, nothing has changed.
func (s *Session) assume(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx) // of listening, which ends here
	if err := s.take(ctx); err != nil {
		return err
	}
	if _, err := s.catchUp(ctx); err != nil { // it may have grown before the lease was ours
		s.release()
		s.listen()
		return err
	}
	return nil
}

// wake goes on with a log that somebody else has left: what was in flight then is lost.
func (s *Session) wake(ctx context.Context) error {
	if err := s.control(ctx, Opened{By: s.live.owner}); err != nil {
		return err
	}
	if err := s.disown(ctx); err != nil {
		return err
	}
	return s.control(ctx, Tick{})
}

// disown gives up the calls in flight that this session does not make.
func (s *Session) disown(ctx context.Context) error {
	for _, lost := range s.core.InFlight() {
		if s.making(lost) {
			continue
		}
		if err := s.control(ctx, lost); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) making(call Lost) bool {
	return slices.ContainsFunc(s.flights, func(f *flight) bool { return f.makes(call) })
}

// catchUp folds what others have appended.
func (s *Session) catchUp(ctx context.Context) (grew bool, err error) {
	var bound callContext
	bound.attach(ctx)
	bound.limit(s.live.lease)
	defer bound.cancel()
	for event, err := range s.live.store.Read(&bound, s.id, s.core.record.Seq) {
		if err != nil {
			return grew, storeError("read", err)
		}
		if err := s.core.Fold(event); err != nil {
			return grew, err
		}
		grew = true
	}
	if grew {
		s.changed()
	}
	return grew, nil
}

// refold makes the core anew from the log, which it yields: somebody else has appended to it. A session
// that holds the debate makes sure that it still does, for else it must not go on.
func (s *Session) refold(ctx context.Context) (log []Event, err error) {
	err = s.insist(ctx, func(ctx context.Context) error {
		if s.leased {
			if err := s.renew(ctx); err != nil {
				return err
			}
		}
		if log, err = s.live.read(ctx, s.id); err != nil {
			return err
		}
		core, err := s.live.core(s.id, log)
		if err != nil {
			return err
		}
		s.core = core
		s.changed()
		return nil
	})
	return log, err
}

// stands reports whether a log holds events that were tried to append: the append has succeeded, whatever
// was said of it.
func stands(log, tried []Event) bool {
	for i := range tried {
		if tried[i].Seq > int64(len(log)) || !sameEvent(&log[tried[i].Seq-1], &tried[i]) {
			return false
		}
	}
	return len(tried) > 0
}

// changed makes known what somebody else has appended, and breaks off calls that it has ended.
func (s *Session) changed() {
	s.seq.Store(s.core.record.Seq)
	s.show()
	for _, f := range s.flights {
		if !s.core.inFlightAs(f.command.Call, f.command.Attempt) {
			f.ctx.cancel()
		}
	}
	s.notify()
}
