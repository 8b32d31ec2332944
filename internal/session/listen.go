package session

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/callctx"
)

// listen watches the log of a conversation that this session has no lease of. The session folds what others append.
// When the conversation has work and nobody has the lease, the session takes it over.
func (s *Session) listen() {
	ctx, stop := context.WithCancel(s.life)
	s.stopListening = stop
	s.spawn(func() {
		defer stop()
		s.watchLog(ctx)
	})
}

// unlisten ends listen.
func (s *Session) unlisten() {
	if s.stopListening != nil {
		s.stopListening()
		s.stopListening = nil
	}
}

// watchLog calls checkLog whenever the log may have grown, until ctx is done or checkLog says that it is no longer watched.
func (s *Session) watchLog(ctx context.Context) {
	log := s.host.growthOf(ctx, s.ID, s.host.Lease) // by then the lease of a process that is gone has ended
	defer log.stop()
	for {
		watched, timed := s.checkLog(ctx)
		if !watched || log.wait(ctx, timed) != nil {
			return
		}
	}
}

// checkLog folds what the log has grown by, and takes the conversation over if it has work. If it waits for a person, checkLog sets the
// timer for the limits of its time. It reports whether the log is still to be watched, and whether to look again after the time of a
// lease, without a reason: another process may have died, or the store may have recovered.
func (s *Session) checkLog(ctx context.Context) (watched, timed bool) {
	if s.mu.enter(ctx) != nil {
		return false, false
	}
	defer s.mu.Unlock()
	if s.closed != nil || s.leased || ctx.Err() != nil {
		return false, false
	}
	if _, err := s.catchUp(ctx); err != nil {
		if errors.Is(err, flow.ErrNotFound) || s.core.Err() != nil {
			s.closeWith(err)
			return false, false
		}
		return true, true
	}
	if !s.core.HasWork() {
		wake := s.core.Wake()
		if !wake.IsZero() && s.host.syncClock(ctx) != nil { // the limits count by the clock of the store
			return true, true
		}
		s.tickAt(wake)
		return !s.finishIfOver(), false
	}
	s.resume(ctx)
	return s.closed == nil && !s.leased && !s.over.Load(), true
}

// resume takes the conversation over and continues it, unless another process has the lease. The error is told to nobody: it closes
// the session, whose callers learn of it there, or the session listens on and tries again.
func (s *Session) resume(ctx context.Context) {
	switch err := s.takeOver(ctx); {
	case err == nil && s.core.HasWork():
		_ = s.continueWork(context.Background())
	case err == nil:
		_ = s.begin(context.Background(), flow.Tick{})
	case errors.Is(err, flow.ErrMissing):
		s.closeWith(err)
	}
}

// finishIfOver finishes a conversation that another process has brought to its end. It reports whether it has ended.
func (s *Session) finishIfOver() bool {
	if !s.core.Over() {
		return false
	}
	s.finish()
	s.notify()
	return true
}

// takeOver acquires the lease and folds what the log has grown by until then. On an error nothing has changed. An engine
// that lacks what the conversation needs does not take it over.
func (s *Session) takeOver(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx) // acquireLease ends listening, and with it the context of checkLog
	if err := s.core.Missing(); err != nil {
		return err
	}
	if err := s.acquireLease(ctx); err != nil {
		return err
	}
	grew, err := s.catchUp(ctx)
	if grew || !s.stopwatch.runs() {
		s.stopwatch.start()
	}
	if err == nil {
		err = s.core.Missing()
	}
	if err != nil {
		s.releaseLease()
		s.listen()
		return err
	}
	return nil
}

// continueWork continues a log that another process has left. The calls that were in flight are lost.
func (s *Session) continueWork(ctx context.Context) error {
	by := s.host.Owner[strings.LastIndexByte(s.host.Owner, '-')+1:] // a log may be exported: it names no machine
	if err := s.control(ctx, flow.Opened{By: by}); err != nil {
		return err
	}
	if err := s.reportLost(ctx); err != nil {
		return err
	}
	return s.begin(ctx, flow.Tick{})
}

// reportLost steps a Lost for each call in flight that this session does not make.
func (s *Session) reportLost(ctx context.Context) error {
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
func (s *Session) makes(call flow.Lost) bool {
	return slices.ContainsFunc(s.flights, func(f *flight) bool { return f.makes(call) })
}

// catchUp folds what others have appended.
func (s *Session) catchUp(ctx context.Context) (grew bool, err error) {
	var bound callctx.Context
	bound.Attach(ctx)
	bound.Limit(s.host.Lease)
	defer bound.Cancel()
	events, err := s.host.foldOn(&bound, s.ID, s.core)
	if errors.Is(err, flow.ErrRewritten) {
		_, err := s.reload(&bound)
		return true, err
	}
	if grew = len(events) > 0; grew && s.core.Err() == nil { // also what was folded before an error of the store
		s.publishFolded()
	}
	return grew, err
}

// reload makes a new core from the log, and returns the log. It is for a log to which another process has appended.
// A session that has the lease renews it first: without the lease it must not continue.
func (s *Session) reload(ctx context.Context) (log []flow.Event, err error) {
	err = s.retryStore(ctx, func(ctx context.Context) error {
		if s.leased {
			if err := s.renewLease(ctx); err != nil {
				return err
			}
		}
		if log, err = s.host.Read(ctx, s.ID); err != nil {
			return err
		}
		core, err := s.host.NewCore(s.ID, log)
		if err != nil {
			return err
		}
		s.core = core
		s.publishFolded()
		return nil
	})
	return log, err
}

// publishFolded shows what somebody else has appended, and cancels the calls that it has ended. Without the lease the stopwatch stops:
// somebody else may have counted the time.
func (s *Session) publishFolded() {
	if !s.leased {
		s.stopwatch.stop()
	}
	s.publishSaved(s.core.Record().Seq)
	s.publishState()
	for _, f := range s.flights {
		if !s.core.InFlightAs(f.command.Call, f.command.Attempt) {
			s.cancelCall(f)
		}
	}
	s.notify()
}
