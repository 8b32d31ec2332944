package session

import (
	"context"
	"slices"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/callctx"
	"github.com/agonist-dev/debate/provider"
)

// maxExpectedParts bounds the room that is made for a stream's chunks before they come.
const maxExpectedParts = 1 << 10

// flight is a call that is being made.
type flight struct {
	command flow.Command
	request provider.Request
	stream  stream
	ctx     callctx.Context
}

// makes reports whether the flight is that attempt.
func (f *flight) makes(call flow.Lost) bool {
	return f.command.Call == call.Call && f.command.Attempt == call.Attempt
}

// startCalls prepares calls. It returns the first, for the caller to make, and starts the others.
func (s *Session) startCalls(ids []string) (*flight, error) {
	var first *flight
	for i, id := range ids {
		f := &flight{}
		if err := s.core.Prepare(id, &f.command, &f.request); err != nil {
			s.closeWith(err)
			return nil, err
		}
		s.host.Bound(&f.ctx, &f.command)
		if f.command.Stream {
			f.stream.command, f.stream.after, f.stream.expected = &f.command, s.core.Record().Seq, s.lastParts
			f.stream.bytesLeft = f.command.MaxText()
			s.addStream(&f.stream)
		}
		s.flights = append(s.flights, f)
		if i == 0 {
			first = f
			continue
		}
		s.spawn(func() { s.makeCalls(f) })
	}
	return first, nil
}

// makeCalls makes a call, steps its result, and makes the call that follows, until there is none. A nil flight is none.
func (s *Session) makeCalls(f *flight) {
	for f != nil {
		f = s.stepResult(f, s.makeCall(f))
	}
}

// makeCall makes one call.
func (s *Session) makeCall(f *flight) flow.Signal {
	emit := func(c provider.Chunk) {
		if f.command.Stream && c.Text != "" {
			f.stream.add(c.Text)
			s.notifyChunk()
		}
	}
	signal, err := s.host.Perform(&f.ctx, &f.command, emit)
	f.ctx.Cancel()
	if err != nil { // the engine lacks what the config names
		return flow.Failed{Call: f.command.Call, Attempt: f.command.Attempt, Error: flow.Classify(err), Free: true}
	}
	return signal
}

// stepResult steps a call's result, and returns a call that follows. A closed session records nothing: its calls were
// canceled.
func (s *Session) stepResult(f *flight, signal flow.Signal) *flight {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.flights, f); i >= 0 {
		s.flights = slices.Delete(s.flights, i, i+1)
	}
	if f.command.Stream {
		text := ""
		if result, ok := signal.(flow.Result); ok && f.stream.count > 0 {
			text = s.core.Spoken(result)
		}
		f.stream.close(text)
		s.lastParts = min(f.stream.count, maxExpectedParts)
		s.removeStream(&f.stream)
	}
	next, _ := s.apply(context.Background(), signal) // an error closes the session: its callers learn of it there
	return next
}

// tickAt sets the session's one timer to the given time; zero: no Tick is due.
func (s *Session) tickAt(at time.Time) {
	s.stop(s.timer)
	s.timer = nil
	if at.IsZero() || s.closed != nil {
		return
	}
	s.timer = s.after(time.Until(at), func() {
		s.mu.Lock()
		first, _ := s.apply(context.Background(), flow.Tick{})
		s.mu.Unlock()
		s.makeCalls(first)
	})
}
