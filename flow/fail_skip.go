package flow

import (
	"fmt"
	"slices"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Skipped records that a call was left out: the conversation continues without its result.
type Skipped struct {
	Call   string   `json:"call" redact:"-"`
	Kind   CallKind `json:"kind" redact:"-"`
	By     string   `json:"by" redact:"-"` // the actor that was to be asked
	Round  int      `json:"round,omitempty"`
	Slot   int      `json:"slot,omitempty"`
	Reason string   `json:"reason"`
	Cause  Kind     `json:"cause,omitempty" redact:"-"` // the kind of failure; "": the round's time was over
	// With is the call that was left out before, as Call.SkipWith names it. Then the actor of this one has missed nothing. "":
	// this call was left out by itself.
	With string `json:"with,omitempty" redact:"-"`
	// Aid means that the result was optional, or beside what the actor owes. Then the actor has missed nothing either.
	Aid bool `json:"aid,omitempty"`
}

// skip records that a call is left out.
func (c *Core) skip(call *Call, reason string, cause Kind) error {
	return c.emit(Event{Body: &Skipped{
		Call: call.ID, Kind: call.Kind, By: call.By, Round: call.Round, Slot: call.Slot, Reason: reason, Cause: cause,
		Aid: call.OnFail.spares(),
	}})
}

// skipWith records that a call is left out because the call that its SkipWith names was left out.
func (c *Core) skipWith(call *Call) error {
	for i := range c.record.SkippedCalls {
		if s := &c.record.SkippedCalls[i]; s.Call == call.SkipWith {
			return c.emit(Event{Body: &Skipped{
				Call: call.ID, Kind: call.Kind, By: call.By, Round: call.Round, Slot: call.Slot, Reason: call.SkipWith + " was left out: " + s.Reason,
				Cause: s.Cause, With: call.SkipWith,
			}})
		}
	}
	err := fmt.Errorf("the call is skipped with %s, which was not left out", text.OneLine(call.SkipWith, 80))
	return c.fail(&Error{Kind: provider.KindState, Op: call.ID, Participant: call.By, Round: call.Round, Err: err})
}

// Skipped reports whether a call was left out by a rule, by a person, or because the time of its round was over.
func (r *Record) Skipped(call string) bool {
	if len(r.SkippedCalls) == 0 { // as a rule
		return false
	}
	c := r.calls[call]
	return c != nil && c.status == callSkipped
}

// misses counts how often in a row an actor was left out. The calls of one round count as one.
type misses struct {
	by    string
	times int
	seq   int64 // of the last one: the number of its event
	round int   // in which it was left out
	state State
}

// missed returns how many times in a row the actor was left out before this call: none of its calls had a result in between.
// Calls that stand beside each other are one time.
func (r *Record) missed(call, by string) int {
	for i := range r.misses {
		m := &r.misses[i]
		if m.by != by || m.times == 0 {
			continue
		}
		if r.beside(m, r.calls[call]) {
			return m.times - 1
		}
		return m.times
	}
	return 0
}

// beside reports whether a call stands beside the last one that its actor missed. All calls of a round do. Outside of rounds
// it is a call that was begun before the other was left out, or one of the same state that was never begun.
func (r *Record) beside(m *misses, call *callState) bool {
	switch {
	case m.round == r.Round && r.Round > 0 && r.work != StateCompleting:
		return true
	case call != nil && call.first > 0:
		return call.first < m.seq
	default:
		return m.round == r.Round && m.state == r.work
	}
}

// foldSkipped folds a call that was left out. No attempt at it need have been made.
func (r *Record) foldSkipped(s *Skipped) error {
	call := r.calls[s.Call]
	if call == nil {
		call = newCall(&Intent{Call: s.Call, Kind: s.Kind, By: s.By, Round: s.Round, Slot: s.Slot})
		r.calls[s.Call] = call
	}
	if call.status == callInFlight || call.status == callDone || call.status == callSkipped || len(r.SkippedCalls) >= maxSkips {
		return invalid("skipped.call", "is in flight, done or left out already")
	}
	if s.With != "" && !r.Skipped(s.With) {
		return invalid("skipped.with", "%q was not left out", text.OneLine(s.With, 80))
	}
	call.status = callSkipped
	if s.Cause == "" {
		r.tardy = append(r.tardy, tardy{call, r.Seq + 1})
	}
	r.unshare(call)
	r.closeInquiries(s.Call)
	r.withdrawUses(func(base string) bool { return base == s.Call })
	r.SkippedCalls = append(r.SkippedCalls, *s)
	if call.intent.Upto > 0 { // a summary: those who would read it do without
		if only := call.intent.Only; !slices.Contains(r.unsummed, only) && len(r.unsummed) < maxTracked {
			r.unsummed = append(r.unsummed, only)
		}
		return nil
	}
	r.countDone(call)
	if s.With == "" && !s.Aid {
		r.miss(call, s.By)
	}
	return nil
}

// tardy is a call that was left out because the time was over.
type tardy struct {
	*callState
	seq int64 // the number of the event
}

// restore gives calls that were left out because the time was over a new start, unless the result of a later call has
// followed them. Their actors have missed nothing then.
func (r *Record) restore() {
	restored := make(map[string]bool)
	for _, call := range slices.Backward(r.tardy) {
		if former := call.special.formerly; former != nil {
			*r.missesOf(former.by) = *former
			call.own().formerly = nil
		}
		restored[call.intent.Call] = true
		call.anew()
		call.unbounded()
		call.first = 0
		r.uncount(call.callState)
	}
	r.SkippedCalls = slices.DeleteFunc(slices.Clone(r.SkippedCalls), func(s Skipped) bool { return restored[s.Call] })
	r.tardy = nil
}

// missesOf returns what an actor has missed, for writing. nil: there is no room.
func (r *Record) missesOf(by string) *misses {
	for i := range r.misses {
		if r.misses[i].by == by {
			return &r.misses[i]
		}
	}
	if len(r.misses) >= maxTracked {
		return nil
	}
	r.misses = append(r.misses, misses{by: by})
	return &r.misses[len(r.misses)-1]
}

// miss counts that a call of an actor was left out.
func (r *Record) miss(call *callState, by string) {
	times := r.missed(call.intent.Call, by) + 1
	if m := r.missesOf(by); m != nil {
		call.own().formerly = new(*m)
		*m = misses{by, times, r.Seq + 1, r.Round, r.work}
	}
}

// maxSkips bounds the calls of a log that were left out.
const maxSkips = 1 << 20

// heard forgets what an actor has missed, since it has answered.
func (r *Record) heard(by string) {
	for i := range r.misses {
		if r.misses[i].by == by {
			r.misses[i] = misses{by: by}
		}
	}
}

func (c *Core) drop(who, reason string) error {
	return c.emit(Event{Body: &Dropped{Participant: who, Reason: reason}})
}

// IsDropped reports whether an actor was dropped.
func (r *Record) IsDropped(name string) bool { return slices.Contains(r.dropped, name) }

// DroppedBy returns who has decided that an actor takes no further part: EndedByPerson, EndedByRule, or "" if nobody has.
func (r *Record) DroppedBy(name string) string {
	if i := slices.Index(r.dropped, name); i >= 0 {
		return r.droppers[i]
	}
	return ""
}

// SkippedBy returns who has decided that the conversation continues without the result of a call: EndedByPerson, EndedByRule,
// or "" if the call was not left out, or only because the time of its round was over.
func (r *Record) SkippedBy(call string) string {
	if c := r.calls[call]; c != nil && c.status == callSkipped && c.trouble != nil && c.trouble.chosen == OptionSkip {
		return c.trouble.by
	}
	return ""
}

// foldDropped drops an actor, and the inquiries about its failed calls and its uses of tools.
func (r *Record) foldDropped(name string) {
	if r.IsDropped(name) || len(r.dropped) >= maxTracked {
		return
	}
	r.withdraw(func(q *Inquiry) bool { return q.Use != nil && q.To == name })
	by := ""
	for _, call := range r.failing {
		if call.intent.By != name {
			continue
		}
		r.closeInquiries(call.intent.Call)
		if call.status == callFailed {
			r.countDone(call)
		}
		if call.trouble != nil && call.trouble.chosen == OptionDrop {
			by = call.trouble.by
		}
	}
	r.dropped, r.droppers = append(r.dropped, name), append(r.droppers, by)
}
