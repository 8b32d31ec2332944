package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// A call runs code of others: a provider, a judge, a tool. Such code may ignore that its context has ended. The session
// waits for the host's Grace, and then gives the call up: it records that the call has failed, and goes on without it.
//
// The goroutine of the call then belongs to that code, which ends it by returning. The session counts it no longer, so
// that Close does not wait for it. When it returns, its result comes to the session, if the session still lives.

// watchFlight sets the timer that looks after calls, if it would fire too late for this one. The lock is held.
func (s *Session) watchFlight(f *flight) {
	s.watchUntil(f.due(s.host.Grace))
}

// due returns when the flight is to be given up, or to be looked at again.
func (f *flight) due(grace time.Duration) time.Time {
	if end, ok := f.ctx.End(); ok {
		return end.Add(grace)
	}
	return time.Now().Add(saturated(f.command.Timeout, grace)) // its time has not begun, or stands
}

func (s *Session) watchUntil(at time.Time) {
	if s.watch != nil && !at.Before(s.watchAt) {
		return
	}
	s.stop(s.watch)
	s.watchAt = at
	s.watch = s.after(time.Until(at), s.lookAfter)
}

// unwatch stops the timer. The lock is held.
func (s *Session) unwatch() {
	s.stop(s.watch)
	s.watch = nil
}

// lookAfter gives up the calls whose time is over, and sets the timer for the others.
func (s *Session) lookAfter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watch == nil || time.Now().Before(s.watchAt) {
		return // the timer was set anew meanwhile
	}
	s.watch = nil
	now := time.Now()
	for _, f := range append([]*flight(nil), s.flights...) { // what follows a call may be another one
		if !f.givenUp && !f.home.Load() && !f.due(s.host.Grace).After(now) {
			s.giveUp(f)
		}
	}
	for _, f := range s.flights {
		if !f.home.Load() {
			s.watchFlight(f)
		}
	}
}

// giveUp goes on without a call. Nobody knows what it costs, so that it counts as broken off. The lock is held.
func (s *Session) giveUp(f *flight) {
	f.givenUp = true
	reason := f.ctx.Err()
	f.ctx.Cancel()
	f.ctx.Free()
	s.running--
	s.host.crew.leave()
	s.host.GaveUp(&f.command)
	failed := flow.Failed{Call: f.command.Call, Attempt: f.command.Attempt, Error: s.host.ignored(reason)}
	s.land(f, failed)
	_ = s.control(context.Background(), failed) // an error closes the session: its callers learn of it there
}

// ignored is the failure of a call that has ignored the end of its context.
func (h *Host) ignored(reason error) *flow.Error {
	kind := provider.KindTimeout
	if errors.Is(reason, context.Canceled) {
		kind = provider.KindCanceled
	}
	return &flow.Error{Kind: kind, Err: fmt.Errorf("given up: it has not returned %s after its context had ended", h.Grace)}
}

// returned counts the goroutine of a call in again that was given up, until it ends. The lock is held.
func (s *Session) returned(f *flight) {
	s.running++
	s.host.crew.enter()
	s.host.Returned(&f.command)
}

// afterGoexit lets another goroutine continue where the code that was called has ended its own. A panic goes on.
func (s *Session) afterGoexit(f *flight, reason any) {
	if reason != nil {
		panic(reason) //nolint:forbidigo // it is not this one's
	}
	f.home.Store(true)
	f.ctx.Cancel()
	err := errors.New("the code that was called has ended its goroutine")
	failed := flow.Failed{Call: f.command.Call, Attempt: f.command.Attempt, Error: &flow.Error{Kind: provider.KindAPI, Err: err}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spawn(func() { s.makeCalls(s.stepResult(f, failed)) })
}
