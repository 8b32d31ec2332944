package flow

import "slices"

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

// SkippedBy returns who has decided that the conversation continues without the result of a call: EndedByPerson,
// EndedByRule, or "" if nobody has: it was not left out, or was late.
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
		r.settled(call.intent.Call)
		if call.trouble != nil && call.trouble.chosen == OptionDrop {
			by = call.trouble.by
		}
	}
	r.dropped, r.droppers = append(r.dropped, name), append(r.droppers, by)
}
