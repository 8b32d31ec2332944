package flow

import "slices"

func (c *Core) drop(who, reason string) error {
	return c.emit(Event{Body: &Dropped{Participant: who, Reason: reason}})
}

// IsDropped reports whether an actor was dropped.
func (r *Record) IsDropped(name string) bool { return slices.Contains(r.dropped, name) }

// foldDropped drops an actor, and the inquiries about its failed calls.
func (r *Record) foldDropped(name string) {
	if r.IsDropped(name) || len(r.dropped) >= maxTracked {
		return
	}
	r.dropped = append(r.dropped, name)
	r.Inquiries = slices.DeleteFunc(r.Inquiries, func(q Inquiry) bool { return q.About != "" && q.To == name })
}
