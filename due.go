package debate

import (
	"time"
)

// due gathers what the calls of one state need.
type due struct {
	core  *Core
	busy  bool // something is in flight, or waits for its time
	asked bool // a person has been asked
	held  bool // a call does not fit the budget
	limit WarningKind
	short *Intent   // the call that does not fit
	wait  time.Time // when the next call may start
	one   [1]beginning
}

// all deals with the missing calls of a state. Nothing is started before it is known that no call
// of the batch ends the state. again: the record has changed, so calls are to be computed anew.
func (d *due) all(calls []Call) (again bool, err error) {
	r := d.core.record
	for i := range calls {
		if state := r.calls[calls[i].ID]; state != nil && state.status == callFailed && !calls[i].OnFail.Skip {
			return d.core.giveUp(&calls[i], state)
		}
	}
	var fresh []beginning
	if len(calls) == 1 {
		fresh = d.one[:0]
	}
	for i := range calls {
		call, ok := d.look(&calls[i])
		if !ok {
			continue
		}
		ready, intent, failure := d.core.prepare(call)
		if failure != nil {
			return true, d.core.fail(failure)
		}
		fresh = append(fresh, beginning{ready, intent})
	}
	for _, b := range fresh {
		if err := d.start(b.ready, b.intent); err != nil {
			return false, err
		}
	}
	return false, nil
}

// beginning is a call that may start.
type beginning struct {
	ready  *prepared
	intent *Intent
}

// look sees whether a missing call may start now, and as what.
func (d *due) look(call *Call) (*Call, bool) {
	r := d.core.record
	state := r.calls[call.ID]
	if state != nil && state.status == callRejected {
		call = reask(call, state)
		state = r.calls[call.ID]
	}
	switch {
	case state == nil || state.status == callIdle:
	case state.status == callOpen:
		if call.Performer == ByPerson {
			d.asked = true
		} else {
			d.busy = true
		}
		return nil, false
	default:
		return nil, false
	}
	from := call.NotBefore
	if state != nil && state.retryAt().After(from) {
		from = state.retryAt()
	}
	if from.After(d.core.in.At) {
		d.busy = true
		if d.wait.IsZero() || from.Before(d.wait) {
			d.wait = from
		}
		return nil, false
	}
	return call, true
}

// giveUp deals with a call that has failed for good.
func (c *Core) giveUp(call *Call, state *callState) (again bool, err error) {
	r := c.record
	switch {
	case call.OnFail.Fire != "" && c.machine.allows(r, call.OnFail.Fire):
		return true, c.fire(call.OnFail.Fire, Note{Evidence: state.trouble.failure.Error()}, false)
	case call.OnFail.Drop && r.isActive(call.By):
		return true, c.emit(Event{Kind: EventDropped, Dropped: &Dropped{Participant: call.By, Reason: state.trouble.failure.Error()}})
	default:
		return true, c.fail(state.trouble.failure)
	}
}

// start begins a call, unless the budget keeps it back.
func (d *due) start(ready *prepared, intent *Intent) error {
	c := d.core
	if limit, ok := c.record.fits(intent.Reserve); !ok {
		if len(c.record.open) > 0 {
			d.busy = true // what is reserved may become free
		} else {
			d.held, d.limit, d.short = true, limit, intent
		}
		return nil
	}
	if ready.left > 0 && !c.record.shortened() {
		if err := c.warn(&Warning{Kind: WarnShort, Call: intent.Call, Left: ready.left}); err != nil {
			return err
		}
	}
	if err := c.emit(Event{Kind: EventIntent, Intent: intent}); err != nil {
		return err
	}
	if ready.call.Performer == ByPerson {
		d.asked = true
		return c.emit(Event{Kind: EventInquiry, Inquiry: &Inquiry{
			ID: intent.Call, Kind: intent.Kind, To: intent.By, Question: ready.last, Schema: wireJSON(ready.wire),
		}})
	}
	c.record.open[len(c.record.open)-1].ready = ready
	c.out.Start = append(c.out.Start, intent.Call)
	d.busy = true
	return nil
}
