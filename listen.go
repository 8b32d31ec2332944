package debate

import (
	"context"
	"errors"
	"slices"
	"time"
)

// listen watches the log of a debate that this session has no lease of. The session folds what others append. When
// the debate has work and nobody has the lease, the session takes it over.
func (s *session) listen() {
	ctx, stop := context.WithCancel(s.life)
	s.stopListening = stop
	s.spawn(func() {
		defer stop()
		s.watchLog(ctx)
	})
}

// unlisten ends listen.
func (s *session) unlisten() {
	if s.stopListening != nil {
		s.stopListening()
		s.stopListening = nil
	}
}

// watchLog calls checkLog whenever the log may have grown, until ctx is done or checkLog returns false.
func (s *session) watchLog(ctx context.Context) {
	grown, every := (<-chan struct{})(nil), pollInterval
	if w, ok := s.host.store.(Watcher); ok {
		grown, every = w.Watch(ctx, s.id), s.host.lease // by then the lease of a process that is gone has ended
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for ctx.Err() == nil && s.checkLog(ctx) {
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

// checkLog folds what the log has grown by, and takes the debate over if it has work. It reports whether the log
// is still to be watched.
func (s *session) checkLog(ctx context.Context) bool {
	if s.mu.enter(ctx) != nil {
		return false
	}
	defer s.mu.Unlock()
	if s.closed != nil || s.leased || ctx.Err() != nil {
		return false
	}
	if _, err := s.catchUp(ctx); err != nil {
		if errors.Is(err, ErrNotFound) || s.core.err() != nil {
			s.closeWith(err)
			return false
		}
		return true // the store may recover
	}
	if !s.core.hasWork() {
		return !s.finishIfOver()
	}
	if s.takeOver(ctx) == nil {
		_ = s.continueWork(context.Background()) // an error closes the session: its callers learn of it there
	}
	return s.closed == nil && !s.leased && !s.over.Load()
}

// finishIfOver finishes a debate that another process has brought to its end. It reports whether it has ended.
func (s *session) finishIfOver() bool {
	if !s.core.over() {
		return false
	}
	s.finish()
	s.notify()
	return true
}

// takeOver acquires the lease and folds what the log has grown by until then. On an error nothing has changed.
func (s *session) takeOver(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx) // acquireLease ends listening, and with it the context of checkLog
	if err := s.acquireLease(ctx); err != nil {
		return err
	}
	if _, err := s.catchUp(ctx); err != nil {
		s.releaseLease()
		s.listen()
		return err
	}
	return nil
}

// continueWork continues a log that another process has left. The calls that were in flight are lost.
func (s *session) continueWork(ctx context.Context) error {
	if err := s.control(ctx, Opened{By: s.host.owner}); err != nil {
		return err
	}
	if err := s.reportLost(ctx); err != nil {
		return err
	}
	return s.control(ctx, Tick{})
}

// reportLost steps a Lost for each call in flight that this session does not make.
func (s *session) reportLost(ctx context.Context) error {
	for _, lost := range s.core.InFlight() {
		if s.makes(lost) {
			continue
		}
		if err := s.control(ctx, lost); err != nil {
			return err
		}
	}
	return nil
}

// makes reports whether this session makes the attempt.
func (s *session) makes(call Lost) bool {
	return slices.ContainsFunc(s.flights, func(f *flight) bool { return f.makes(call) })
}

// catchUp folds what others have appended.
func (s *session) catchUp(ctx context.Context) (grew bool, err error) {
	var bound callContext
	bound.attach(ctx)
	bound.limit(s.host.lease)
	defer bound.cancel()
	for event, err := range s.host.store.Read(&bound, s.id, s.core.Record().Seq) {
		if err != nil {
			return grew, storeError("read", err)
		}
		if err := s.core.Fold(event); err != nil {
			return grew, err
		}
		grew = true
	}
	if grew {
		s.publishFolded()
	}
	return grew, nil
}

// reload makes the core anew from the log, and returns the log. It is for a log to which somebody else has appended.
// A session that has the lease renews it first, for without it the session must not continue.
func (s *session) reload(ctx context.Context) (log []Event, err error) {
	err = s.retryStore(ctx, func(ctx context.Context) error {
		if s.leased {
			if err := s.renewLease(ctx); err != nil {
				return err
			}
		}
		if log, err = s.host.read(ctx, s.id); err != nil {
			return err
		}
		core, err := s.host.newCore(s.id, log)
		if err != nil {
			return err
		}
		s.core = core
		s.publishFolded()
		return nil
	})
	return log, err
}

// publishFolded shows what somebody else has appended, and cancels the calls that it has ended.
func (s *session) publishFolded() {
	s.savedSeq.Store(s.core.Record().Seq)
	s.publishState()
	for _, f := range s.flights {
		if !s.core.inFlightAs(f.command.Call, f.command.Attempt) {
			f.ctx.cancel()
		}
	}
	s.notify()
}

// contains reports whether a log holds events that were to be appended. Then the append has succeeded, whatever the
// store said.
func contains(log, tried []Event) bool {
	for i := range tried {
		if tried[i].Seq > int64(len(log)) || !sameEvent(&log[tried[i].Seq-1], &tried[i]) {
			return false
		}
	}
	return len(tried) > 0
}
