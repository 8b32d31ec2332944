package flow

import (
	"time"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Late is the result of an attempt that was given up, because the code that made it ignored the end of its context. It changes
// nothing else: the attempt has failed, and still counts as broken off. As a signal, Call and Attempt are those of the [Command]. If
// the attempt is still in flight, or if nothing more can be recorded, it is ignored.
type Late struct {
	Call    string `json:"call" redact:"-"`
	Attempt int    `json:"attempt"`
	By      string `json:"by,omitempty" redact:"-"` // the actor that was asked; the core sets it
	// Text is the reply: at most 2 KiB of it. Cut reports that it was longer.
	Text  string         `json:"text,omitempty"`
	Cut   bool           `json:"cut,omitempty"`
	Usage provider.Usage `json:"usage,omitzero"` // as the vendor reports it
	Took  time.Duration  `json:"took,omitempty"` // in nanoseconds, without the time in queues
	Error *Error         `json:"error,omitempty"`
}

func (Late) signal() {}

// EventKind implements [Body].
func (*Late) EventKind() EventKind { return EventLate }

// LateOf returns the result or the failure of an attempt that was given up as a Late. Any other signal gives nil.
func LateOf(s Signal) Signal {
	switch s := s.(type) {
	case Result:
		return Late{Call: s.Call, Attempt: s.Attempt, Text: s.Text, Usage: s.Usage, Took: s.Took}
	case Failed:
		return Late{Call: s.Call, Attempt: s.Attempt, Usage: s.Usage, Took: s.Took, Error: s.Error}
	default:
		return nil
	}
}

// late records what came late.
func (c *Core) late(s Late) error {
	state := c.record.callByID(s.Call)
	if state == nil || !c.record.given(&s) || c.Over() {
		return nil
	}
	s.By, s.Usage = state.intent.By, KnownUsage(s.Usage)
	s.Text, s.Cut = excerpt(s.Text)
	return c.emit(Event{Body: &s})
}

// given reports whether the attempt was made, and has ended.
func (r *Record) given(s *Late) bool {
	state := r.callByID(s.Call)
	if state == nil || state.intent == nil || s.Attempt < 1 || s.Attempt > state.intent.Attempt {
		return false
	}
	return s.Attempt < state.intent.Attempt || state.status != callInFlight
}

// foldLate checks what came late. It changes nothing.
func (r *Record) foldLate(s *Late) error {
	if !r.given(s) {
		return invalid("late", "%q, attempt %d, was not made or is in flight", text.OneLine(s.Call, 80), s.Attempt)
	}
	return nil
}
