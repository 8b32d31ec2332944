package session

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// maxExpectedParts bounds the room that is made for a stream's chunks before they come.
const maxExpectedParts = 1 << 10

// flight is a call that a session makes.
type flight struct {
	attempt

	session *Session
	stream  stream
	term    int64 // the term of the lease that the call was recorded in
	at      int32 // where the host's looks list it, from 1; 0: nowhere. They guard it.
	timed   bool  // a timer looks whether it is to be given up; guarded by the looks
	givenUp bool  // its goroutine no longer counts among those of the session
	stepped bool  // its outcome was stepped
}

// makes reports whether the flight is that attempt.
func (f *flight) makes(call flow.Lost) bool {
	return f.command.Call == call.Call && f.command.Attempt == call.Attempt
}

// startCalls prepares calls. It returns the first, for the caller to make, also beside an error, and starts the others. The goroutine of
// each counts as one that runs.
func (s *Session) startCalls(ids []string) (*flight, error) {
	var first *flight
	for i, id := range ids {
		f := &flight{session: s, term: s.terms.Load()}
		if err := s.core.Prepare(id, &f.command, &f.request); err != nil {
			s.closeWith(err)
			return first, err
		}
		s.host.Bound(&f.ctx, &f.command)
		if f.command.Stream {
			f.stream.open(&f.command, s.core.Record().Seq)
			f.stream.expected = s.lastParts
			s.addStream(&f.stream)
			if s.host.relay != nil {
				s.host.relay.add(&f.stream, s.pieceKey(), s.ID)
			}
		}
		s.flights = append(s.flights, f)
		s.host.looks.add(f)
		s.running++
		if i == 0 {
			first = f
			continue
		}
		s.goMake(f)
	}
	return first, nil
}

// goMake makes a call that startCalls has prepared, and those that follow it, on another goroutine. A nil flight is none.
func (s *Session) goMake(f *flight) {
	if f != nil {
		go s.run(func() { s.makeCalls(f) })
	}
}

// follow applies a signal on a goroutine that counts already, and returns a call that follows, for that goroutine to make. An error closes
// the session: its callers learn of it there. The lock is held.
func (s *Session) follow(signal flow.Signal) *flight {
	next, _ := s.apply(context.Background(), signal)
	if next != nil {
		s.running-- // startCalls has counted the goroutine once more
	}
	return next
}

// makeCalls makes a call, steps its result, and makes the call that follows, until there is none. A nil flight is none.
func (s *Session) makeCalls(f *flight) {
	for f != nil {
		f = s.stepResult(f, s.makeCall(f))
	}
}

// makeCall makes one call. If the code that is called ends the goroutine, another one continues with a failure.
func (s *Session) makeCall(f *flight) flow.Signal {
	emit, said := watched(&f.command, func(c provider.Chunk) {
		f.stream.take(c)
		s.notifyChunk()
	})
	f.stream.begin(said) // readers that come now have not had it
	return s.host.perform(&f.attempt, &s.files, func() error { return s.mayLaunch(f) }, emit, func(failed flow.Signal) {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case failed != nil:
			s.spawn(func() { s.makeCalls(s.stepResult(f, failed)) })
		case f.givenUp: // whoever has called Finish may recover, and the goroutine is counted out
			s.returned(f)
		}
	})
}

// stepResult steps a call's result, and returns a call that follows. A closed session records nothing: its calls were
// canceled.
//
// Whoever gets the lock steps all results that have come until then, and saves them in one commit: hundreds of calls may end at the
// same time, also because a control has broken them off.
func (s *Session) stepResult(f *flight, signal flow.Signal) *flight {
	s.landing.add(landed{f, signal})
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.stepped {
		return nil
	}
	all := s.landing.take()
	for i := range all {
		f := all[i].flight
		f.stepped = true
		if f.givenUp {
			s.returned(f)
			all[i].outcome = flow.GivenUp{Outcome: all[i].outcome}
		} else {
			all[i].outcome = s.recalled(f, all[i].outcome)
			s.land(f, all[i].outcome)
		}
	}
	signal = all[0].outcome
	if len(all) > 1 {
		outcomes := make(flow.Outcomes, len(all))
		for i := range all {
			outcomes[i] = all[i].outcome
		}
		signal = outcomes
	}
	clear(all)
	next := s.follow(signal)
	s.closeIfDrained()
	return next
}

// landed is a call with what has come of it.
type landed struct {
	flight  *flight
	outcome flow.Signal
}

// landing holds the calls whose results have come and were not stepped yet, in their order. It is safe for concurrent use.
type landing struct {
	mu    sync.Mutex
	calls []landed
	spare []landed // what take has returned last, for its room
}

func (l *landing) add(one landed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, one)
}

// take empties it. The slice is valid until the next call of take.
func (l *landing) take() []landed {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls, l.spare = l.spare[:0], l.calls
	return l.spare
}

// land removes a call from those in flight, and ends its stream. The lock is held.
func (s *Session) land(f *flight, signal flow.Signal) {
	if i := slices.Index(s.flights, f); i >= 0 {
		s.flights = slices.Delete(s.flights, i, i+1)
	}
	s.host.looks.drop(f)
	if !f.command.Stream {
		return
	}
	text, thoughts := "", ""
	result, ok := signal.(flow.Result)
	if ok {
		if f.stream.count > 0 {
			text = s.core.Spoken(result)
		}
		thoughts = s.core.Thoughts(result)
	}
	f.stream.close(text, thoughts, result.Stop == provider.StopLength)
	s.lastParts = min(f.stream.count, maxExpectedParts)
	s.removeStream(&f.stream)
	s.host.relay.remove(&f.stream)
	if s.closed != nil {
		s.host.relay.rest()
	}
}

// abort cancels those of the calls in flight. The lock is held.
func (s *Session) abort(ids []string) {
	if len(ids) == 0 {
		return
	}
	aborted := make(map[string]bool, len(ids))
	for _, id := range ids {
		aborted[id] = true
	}
	for _, f := range s.flights {
		if aborted[f.command.Call] {
			s.cancelCall(f)
		}
	}
}

// cancelCall cancels a call in flight. The lock is held.
func (s *Session) cancelCall(f *flight) {
	f.ctx.Cancel()
	s.host.looks.hurry(f)
}

// giveUp goes on without a call that has ignored the end of its context, unless it has returned. The session counts its goroutine no
// longer, so that Close does not wait for it. When the code returns, its result comes to the session, if the session still lives.
func (s *Session) giveUp(f *flight) {
	s.visit(func() {
		if f.home.Load() || !slices.Contains(s.flights, f) {
			return
		}
		f.givenUp = true
		failed := s.host.giveUp(&f.attempt)
		s.running--
		s.host.crew.leave()
		s.land(f, failed)
		_ = s.control(context.Background(), failed) // an error closes the session: its callers learn of it there
	})
}

// returned counts the goroutine of a call in again that was given up, until it ends. The lock is held.
func (s *Session) returned(f *flight) {
	s.running++
	s.host.crew.enter()
	s.host.Returned(&f.command)
}

// until returns how long it is until a time of the log.
func (s *Session) until(at time.Time) time.Duration { return at.Sub(s.stopwatch.now()) }

// tickAt sets the session's one timer to the given time; zero: no Tick is due.
func (s *Session) tickAt(at time.Time) {
	s.stop(s.timer)
	s.timer = nil
	if at.IsZero() || s.closed != nil || s.draining != nil {
		return
	}
	s.due = at
	s.timer = s.after(s.until(at), s.tick)
}

// tick steps a Tick. A session that listens takes the conversation over for that: a limit of its time is reached while a person is
// awaited. If another process has the lease, that one steps the Tick.
func (s *Session) tick() {
	s.mu.Lock()
	var first *flight
	switch wake := s.core.Wake(); {
	case s.stopListening == nil:
		first = s.follow(flow.Tick{})
	case wake.IsZero(): // somebody has answered meanwhile
	case s.until(wake) > 0: // or the clock was corrected
		s.tickAt(wake)
	default:
		s.resume(context.Background())
	}
	s.mu.Unlock()
	s.makeCalls(first)
}
