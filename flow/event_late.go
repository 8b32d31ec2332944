package flow

import (
	"time"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Late is the result of an attempt that was given up, because the code that made it ignored the end of its context. The attempt has
// failed nevertheless. If the result has the usage of the whole attempt, the attempt no longer counts as broken off, but as what it has
// cost. Nothing else changes.
type Late struct {
	Call    string `json:"call" redact:"-"`
	Attempt int    `json:"attempt"`
	By      string `json:"by,omitempty" redact:"-"` // the actor that was asked; the core sets it
	// Text is the reply: at most 2 KiB of it. Cut reports that it was longer.
	Text  string         `json:"text,omitempty"`
	Cut   bool           `json:"cut,omitempty"`
	Usage provider.Usage `json:"usage,omitzero"` // as the vendor reports it
	// Cost is what the attempt has cost by its usage, and counts in the place of Settled, which is the AtMost that its [Failure] holds. Both
	// are 0 if the attempt counts as before. The core sets them.
	Cost    Money         `json:"cost,omitempty"`
	Settled Money         `json:"settled,omitempty"`
	Took    time.Duration `json:"took,omitempty"` // in nanoseconds, without the time in queues
	Error   *Error        `json:"error,omitempty"`
}

// EventKind implements [Body].
func (*Late) EventKind() EventKind { return EventLate }

// late records what came of an attempt that was given up.
func (c *Core) late(outcome Signal) error {
	var s Late
	var is reported
	switch came := outcome.(type) {
	case Result:
		s, is = Late{Call: came.Call, Attempt: came.Attempt, Text: came.Text, Took: came.Took}, came.reported()
	case Failed:
		s, is = Late{Call: came.Call, Attempt: came.Attempt, Took: came.Took, Error: came.Error}, came.reported()
	default:
		return noStep(text.IsNo(outcome, "result or failure"))
	}
	state := c.record.callByID(s.Call)
	if state == nil || !c.record.given(&s) || c.Over() {
		return nil
	}
	s.By, s.Usage = state.intent.By, is.usage
	if lost := state.special.earlier.lost[s.Attempt]; lost != nil {
		if spend := c.record.reckon(lost.intent, is); !spend.BrokenOff && !spend.Unreported { // all of it is known
			s.Cost, s.Settled = spend.Cost, lost.spend.AtMost
		}
	}
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

// lostAttempt is an attempt that was broken off before anything of it was counted.
type lostAttempt struct {
	intent *Intent
	spend  *Spend
}

// lose notes an attempt that was broken off. What comes late of it may have its cost.
func (b *bill) lose(intent *Intent, spend *Spend) {
	if !spend.BrokenOff || spend.AtMost == 0 || spend.Cost != 0 || !spend.Usage.IsZero() {
		return
	}
	if b.lost == nil {
		b.lost = make(map[int]*lostAttempt)
	}
	b.lost[spend.Attempt] = &lostAttempt{intent, spend}
}

// foldLate folds what came late.
func (r *Record) foldLate(s *Late) error {
	if !r.given(s) {
		return invalid("late", "%q, attempt %d, was not made or is in flight", text.OneLine(s.Call, 80), s.Attempt)
	}
	if s.Settled == 0 && s.Cost == 0 {
		return nil
	}
	state := r.callByID(s.Call)
	lost := state.special.earlier.lost[s.Attempt]
	if lost == nil || s.Settled != lost.spend.AtMost || s.Cost < 0 || s.Usage != knownUsage(s.Usage) {
		return invalid("late.settled", "is not what %q, attempt %d, may have cost", text.OneLine(s.Call, 80), s.Attempt)
	}
	state.pay(nil)
	earlier := &state.own().earlier
	delete(earlier.lost, s.Attempt)
	spend := Spend{Call: s.Call, Attempt: s.Attempt, Model: lost.intent.Model, Usage: s.Usage, Cost: s.Cost}
	r.spent.takeBack(lost.intent, lost.spend)
	r.spent.add(lost.intent, &spend)
	earlier.unsettled = earlier.unsettled.Less(lost.spend.Unsettled())
	earlier.add(&spend)
	return nil
}
