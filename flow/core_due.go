package flow

import (
	"fmt"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// due collects what the calls of one state need.
type due struct {
	core       *Core
	kept       bool // the calls are those that the core has kept, and only those that are idle are looked at
	calls      []*Call
	idle       []int // the places of those that are looked at, if kept
	busy       bool  // a call is in flight, or waits for its time
	asked      bool  // a person's answer is pending
	overBudget bool  // a call does not fit the budget
	limit      WarningKind
	short      *Intent   // the call that does not fit
	at         atLimit   // which it is, and by how much
	wait       time.Time // when the next call may start
	batch      int       // how many calls are missing now
	one        [1]beginning
	more       bool            // calls follow that were not prepared
	held       bool            // the budget holds a call back until results have come
	about      map[string]bool // the calls that inquiries are about; nil: nobody has asked for them
	questions  []*Inquiry      // what is to be asked about calls that have failed, noted or noted anew
}

// all deals with the missing calls of a state. It starts none before it knows that no call that has failed ends the state, and that
// those it prepares can be begun. While others are in flight it may prepare only the first of them; see mostAhead. again reports that
// the record has changed, so that it must be looked at again. If the core has kept what the flow wants, calls is not read.
func (d *due) all(calls []*Call) (again bool, err error) {
	r := d.core.record
	if d.calls = calls; d.kept {
		k := d.core.kept
		d.calls, d.idle, d.batch, d.busy = k.calls, k.idle, k.left, true
	}
	if d.lacks(d.core.missingContext(len(d.calls))) {
		return false, nil
	}
	for i := range d.size() {
		call := d.nth(i)
		state := r.calls[call.ID]
		if !d.kept && (state == nil || state.status != callSkipped) {
			d.batch++
		}
		if again, err := d.without(call, state); again || err != nil {
			return again, err
		}
	}
	if len(d.questions) > 0 {
		return true, d.askAll()
	}
	fresh, again, err := d.preparable()
	if again || err != nil {
		return again, err
	}
	if again, err := d.begin(fresh); again || err != nil {
		return again, err
	}
	return d.more && !d.held && d.core.out.Missing == nil, nil
}

// preparable returns the calls that can be made now, and the uses of tools. again reports that the record has changed.
func (d *due) preparable() (fresh []beginning, again bool, err error) {
	r := d.core.record
	prepared, decided := 0, false
	if len(d.calls) == 1 {
		fresh = d.one[:0]
	}
	for i := range d.size() {
		call := d.nth(i)
		uses, waits, again, err := d.pendingTools(call)
		if err != nil || again && r.State == StateError {
			return nil, again, err
		}
		if decided = decided || again; waits {
			fresh = append(fresh, uses...)
			continue
		}
		if !d.look(call) {
			continue
		}
		if prepared >= mostAhead && len(r.inFlight) > 0 && call.Performer != ByPerson {
			d.more = true
			continue
		}
		begun, again, err := d.ready(call, fresh)
		if again || err != nil {
			return nil, again, err
		}
		if begun.intent != nil {
			fresh = append(fresh, begun)
			prepared++
		}
	}
	return fresh, decided, nil
}

// mostAhead bounds how many calls that the budget may hold back are prepared at once while others are in flight. If it holds back one
// of them, those that follow wait as well: otherwise hundreds of calls would be prepared for each result. Uses of tools and people's
// calls wait for none of them.
const mostAhead = 16

// size returns how many calls are looked at.
func (d *due) size() int {
	if d.kept {
		return len(d.idle)
	}
	return len(d.calls)
}

// nth returns the i-th of the calls that are looked at.
func (d *due) nth(i int) *Call {
	if d.kept {
		i = d.idle[i]
	}
	return d.calls[i]
}

// without deals with a call that is not made, or not again: one that is skipped with another, or that has failed for good.
func (d *due) without(call *Call, state *callState) (again bool, err error) {
	if on := call.OnFail.Fire; on != "" && on != TriggerComplete && d.core.machine.common[on] {
		err := fmt.Errorf("OnFail.Fire of %s is %q: it is a trigger of the flow's own, or %q", call.ID, on, TriggerComplete)
		return true, d.core.fail(&Error{Kind: provider.KindState, Op: "flow " + d.core.machine.flow.Name, Round: d.core.record.Round, Err: err})
	}
	skips := call.SkipWith != "" && (state == nil || state.status != callInFlight && state.status != callSkipped)
	switch {
	case skips && len(d.questions) > 0:
		return true, d.askAll()
	case skips:
		return true, d.core.skipWith(call)
	case state != nil && state.status == callFailed:
		return d.giveUp(call, state)
	default:
		return false, nil
	}
}

// begin starts the calls that were prepared, unless one of them was in vain too often: then the conversation fails. If the provider of one
// cannot be reached, the others are looked at anew.
func (d *due) begin(fresh []beginning) (again bool, err error) {
	for _, b := range fresh {
		if state := d.core.record.calls[b.intent.Call]; state != nil && state.vain >= maxVain {
			return true, d.core.fail(inVain(b.intent))
		}
	}
	for _, b := range fresh {
		if failure := d.core.outOfReach(b.intent); failure != nil {
			if err := d.core.unreached(b.intent, failure); err != nil {
				return false, err
			}
			again = true
		}
	}
	if again || d.lacks(d.core.missing(fresh)) {
		return again, nil
	}
	all := starting{calls: fresh}
	for _, b := range fresh {
		all.next++
		if err := d.start(b, &all); err != nil {
			return false, err
		}
	}
	return false, nil
}

// ready prepares a call, or the summary that must precede it. A call that cannot be sent fails.
func (d *due) ready(call *Call, fresh []beginning) (b beginning, again bool, err error) {
	ready, intent, failure := d.core.prepare(call, true)
	if failure == nil && ready.needs != nil {
		for _, other := range fresh {
			if other.intent.Call == ready.needs.ID {
				return b, false, nil // another call of the batch needs it too
			}
		}
		for _, w := range d.core.record.crossed(ready, intent) {
			if err := d.core.warn(&w); err != nil {
				return b, false, err
			}
		}
		return d.summary(call, ready.needs)
	}
	if failure != nil {
		return b, true, d.core.unsent(call, intent, failure)
	}
	return beginning{ready, intent}, false, nil
}

// summary prepares the summary that a call needs. If the budget does not allow the summary, it prepares the call
// without one.
func (d *due) summary(call, needs *Call) (b beginning, again bool, err error) {
	if state := d.core.record.calls[needs.ID]; state != nil && state.status == callFailed {
		if again, err = d.giveUp(needs, state); !again && err == nil && len(d.questions) > 0 {
			again, err = true, d.askAll()
		}
		return b, again, err
	}
	if !d.look(needs) {
		return b, false, nil
	}
	summary := needs
	ready, intent, failure := d.core.prepare(summary, true)
	if failure == nil {
		if one := (beginning{ready, intent}); len(d.core.record.inFlight) > 0 || d.core.fits(one) {
			return one, false, nil
		}
		summary = call
		ready, intent, failure = d.core.prepare(call, false)
	}
	if failure != nil {
		return b, true, d.core.unsent(summary, intent, failure)
	}
	return beginning{ready, intent}, false, nil
}

// unsent records that a call cannot be sent at all.
func (c *Core) unsent(call *Call, intent *Intent, failure *Error) error {
	if intent == nil {
		return c.fail(failure)
	}
	intent.Next, intent.Fallbacks = "", nil
	if err := c.emit(Event{Body: intent}); err != nil {
		return err
	}
	spend := Spend{Call: call.ID, Attempt: intent.Attempt, Model: intent.Model}
	return c.emit(Event{Body: &Failure{
		Spend: spend, By: call.By, Error: failure, Final: true, Unsent: true, Instead: call.OnFail.instead(failure.Kind),
	}})
}

// maxVain bounds the attempts of one call without a result, whatever has ended them: failures, crashes, controls. The
// retries, the fallback models and the rejected answers of a call need far fewer. With it, no chain of attempts is endless.
const maxVain = 1000

// inVain is the failure of a conversation that would make a call once more than maxVain allows.
func inVain(intent *Intent) *Error {
	err := fmt.Errorf("%d attempts have given no result", maxVain)
	return &Error{Kind: provider.KindAPI, Op: intent.Call, Participant: intent.By, Round: intent.Round, Attempt: intent.Attempt, Err: err}
}

// beginning is a call that may start.
type beginning struct {
	ready  *prepared
	intent *Intent
}

// look reports whether a missing call may start now.
func (d *due) look(call *Call) bool {
	r := d.core.record
	state := r.calls[call.ID]
	switch {
	case state == nil || state.status == callIdle:
	case state.status == callInFlight:
		if call.Performer == ByPerson {
			d.asked = true
		} else {
			d.busy = true
		}
		return false
	default:
		return false
	}
	from := call.NotBefore
	if state != nil && state.retryAt().After(from) {
		from = state.retryAt()
	}
	if len(r.limits) > 0 && call.Performer == ByModel {
		_, model := r.chosenModel(call, d.core.in.At)
		most := max(r.settings.Patience, retryDefaults(r.settings.Retry).Cap)
		if until, closed := r.limitedUntil(model, d.core.in.At, most); !closed && until.After(from) {
			from = until
		}
	}
	if from.After(d.core.in.At) {
		d.busy = true
		if d.wait.IsZero() || from.Before(d.wait) {
			d.wait = from
		}
		return false
	}
	return true
}

// start starts a call, unless the budget holds it back. all are the calls that are about to start, with this one.
func (d *due) start(one beginning, all *starting) error {
	c := d.core
	one, limit, at, ok := c.allot(one, all)
	ready, intent := one.ready, one.intent
	if !ok {
		if len(c.record.inFlight) > 0 {
			d.busy, d.held = true, true // results may free a part of the reserve
		} else {
			d.overBudget, d.limit, d.short, d.at = true, limit, intent, at
		}
		return nil
	}
	for _, w := range c.record.crossed(ready, intent) {
		if err := c.warn(&w); err != nil {
			return err
		}
	}
	c.compare(ready, intent)
	own := intent.Tool == "" && intent.Upto == 0 && ready.call.Performer != ByPerson
	if state := c.record.calls[intent.Call]; own && (state == nil || state.special.share == 0) {
		intent.Share = c.record.shareOf(d.batch, c.in.At)
	}
	if err := c.emit(Event{Body: intent}); err != nil {
		return err
	}
	if ready.call.Performer == ByPerson {
		d.asked = true
		return c.inquire(ready, intent)
	}
	c.begun = append(c.begun, begun{intent, ready})
	c.out.Start = append(c.out.Start, intent.Call)
	d.busy = true
	return nil
}
