package flow

import (
	"errors"
	"slices"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// opening is the last Opened of a log, and what its owner has begun since. A runtime that gives the same Opened again, with the same
// ID, has not learned of these calls, so that nobody has made any of them.
//
// It is the zero value where somebody else may have begun calls since, or the runtime has learned of one.
type opening struct {
	Opened

	since []*callState // the calls that were begun since; always nil if there is no ID
}

func (o *opening) begin(call *callState) {
	if o.ID != "" {
		o.since = append(o.since, call)
	}
}

// end takes an outcome. If the call was begun since the opening, its runtime has learned of it, or another one has taken over.
func (o *opening) end(call *callState) {
	if slices.Contains(o.since, call) {
		*o = opening{}
	}
}

// foldOpened folds that a process has resumed the log. No process has worked on the conversation since its last event.
func (r *Record) foldOpened(o *Opened, at time.Time) error {
	if why := notReason(o.ID); why != "" {
		return invalid("opened.id", "%s", why)
	}
	r.shift(at.Sub(r.LastAt))
	r.opened = opening{Opened: *o}
	return nil
}

// OpenedAs reports whether a runtime has given this very Opened before, and cannot have made any of the calls in flight that were
// begun since. It is false for an Opened without an ID.
func (c *Core) OpenedAs(o Opened) bool { return o.ID != "" && c.record.opened.Opened == o }

// onOpened records that the conversation was resumed after a break, if a round's time or an outage is running: the break does not
// count as time of the round, nor of the outage. It also records an opening that has an ID, and the one that follows such an opening.
func (c *Core) onOpened(s Opened) error {
	if why := notReason(s.ID); why != "" {
		return &Error{Kind: provider.KindValidation, Op: "open", Field: "id", Err: errors.New(why)}
	}
	if c.record.start == nil || !c.machine.working(c.record.State) {
		return nil
	}
	if c.record.deadline().IsZero() && len(c.record.outages) == 0 && s.ID == "" && c.record.opened.ID == "" {
		return nil
	}
	return c.emit(Event{Body: &s})
}
