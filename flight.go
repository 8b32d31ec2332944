package debate

import (
	"context"
	"slices"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// mostExpected bounds the room that is made for a stream's parts before they come.
const mostExpected = 1 << 10

// flight is a call that is being made.
type flight struct {
	command Command
	request provider.Request
	stream  stream
	ctx     callContext
}

// makes reports whether the flight is that attempt.
func (f *flight) makes(call Lost) bool {
	return f.command.Call == call.Call && f.command.Attempt == call.Attempt
}

// launch makes ready the calls that are to be made, and starts all but the first.
func (s *Session) launch(ids []string) (*flight, error) {
	var first *flight
	for i, id := range ids {
		f := &flight{}
		if err := s.core.command(id, &f.command, &f.request); err != nil {
			s.drop(err)
			return nil, err
		}
		s.live.bound(&f.ctx, &f.command)
		if f.command.Stream {
			f.stream.command, f.stream.seq, f.stream.room = &f.command, s.core.record.Seq, s.pieces
			f.stream.left = f.command.maxText()
			s.follow(&f.stream)
		}
		s.flights = append(s.flights, f)
		if i == 0 {
			first = f
			continue
		}
		s.spawn(func() { s.fly(f) })
	}
	return first, nil
}

// fly makes a call, brings its result, and goes on with the call that follows from it.
func (s *Session) fly(f *flight) {
	for f != nil {
		f = s.bring(f, s.perform(f))
	}
}

// perform makes one call.
func (s *Session) perform(f *flight) Signal {
	emit := func(c provider.Chunk) {
		if f.command.Stream && c.Text != "" {
			f.stream.add(c.Text)
			s.notifyChunk()
		}
	}
	signal, err := s.live.perform(&f.ctx, &f.command, emit)
	f.ctx.cancel()
	if err != nil { // the host took away what the config names
		return Failed{Call: f.command.Call, Attempt: f.command.Attempt, Error: classify(err), Free: true}
	}
	return signal
}

// bring steps a call's result. A closed session records nothing: its calls were broken off.
func (s *Session) bring(f *flight, signal Signal) *flight {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.flights, f); i >= 0 {
		s.flights = slices.Delete(s.flights, i, i+1)
	}
	if f.command.Stream {
		text := ""
		if result, ok := signal.(Result); ok && f.stream.count > 0 {
			text = s.core.spoken(result)
		}
		f.stream.close(text)
		s.pieces = min(f.stream.count, mostExpected)
		s.unfollow(&f.stream)
	}
	next, _ := s.apply(context.Background(), signal) // whoever waits for the session learns of an error
	return next
}

// tickAt sets the one timer to the given time; zero: none.
func (s *Session) tickAt(at time.Time) {
	s.stop(s.timer)
	s.timer = nil
	if at.IsZero() || s.closed != nil {
		return
	}
	s.timer = s.after(time.Until(at), func() {
		s.mu.Lock()
		first, _ := s.apply(context.Background(), Tick{})
		s.mu.Unlock()
		s.fly(first)
	})
}
