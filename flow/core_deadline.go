package flow

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agonist-dev/debate/internal/fieldname"
	"github.com/agonist-dev/debate/provider"
)

// began returns when the time of the present round began. Zero: no time runs. It runs for nobody while a person is asked.
func (r *Record) began() time.Time {
	if r.settings.RoundTimeout <= 0 || r.late || !slices.Contains(r.timed, r.work) || r.roundAt.IsZero() ||
		len(r.Inquiries) > 0 && r.asksPerson() {
		return time.Time{}
	}
	return r.roundAt
}

// deadline returns when the time of the present round is over. Zero: never.
func (r *Record) deadline() time.Time {
	if began := r.began(); !began.IsZero() {
		return began.Add(r.settings.RoundTimeout)
	}
	return time.Time{}
}

// shareOf returns the deadline of a call, measured from the start of the round, if batch calls are made at once. A call may use
// what is left of the round's time, less half of an equal part of the whole for each step that is still to come. So each of N
// steps that begin without delay has at least one part of 2N, whatever the others take. Zero: all of it.
//
// If less than that is left, the steps that are left get equal parts of it: the call begins late, an amendment has shortened the
// time, or the calls are made in batches of unequal size.
func (r *Record) shareOf(batch int, now time.Time) time.Duration {
	began := r.began()
	steps, after := r.stepsOf(batch)
	if began.IsZero() || after <= 0 {
		return 0
	}
	if now.Before(began) {
		now = began
	}
	used := now.Sub(began)
	left := r.settings.RoundTimeout - used
	kept := r.settings.RoundTimeout / 2 / time.Duration(steps) * time.Duration(after)
	return used + max(left-kept, left/time.Duration(after+1))
}

// stepsOf returns how many steps share the time of the round, and how many of them come after the present one. A step is a
// batch of calls. In a flow with several timed states it is a state, from the first one that has made a call. There are never
// fewer steps than those to come: a flow may go back within a round, and a log may count calls that the round was not planned with.
func (r *Record) stepsOf(batch int) (steps, after int) {
	if len(r.timed) > 1 {
		first := slices.Index(r.timed, cmp.Or(r.firstTimed, r.work))
		steps, after = len(r.timed)-first, len(r.timed)-1-slices.Index(r.timed, r.work)
	} else {
		batches := func(calls int) int { return (calls + batch - 1) / batch }
		planned := r.planned
		for _, n := range r.Notes[r.notedBefore:] { // each answer out of turn is one more
			if n.Ask != "" && n.Round == r.Round {
				planned++
			}
		}
		steps, after = batches(planned), batches(planned-r.done)-1
	}
	return max(steps, after+1), after
}

// unshare ends the share of a call, which is done or left out.
func (r *Record) unshare(call *callState) {
	r.sharing = slices.DeleteFunc(r.sharing, func(c *callState) bool { return c == call })
}

// countDone counts a call of the present round that is still to come no longer: it is done, left out, or has failed and is done
// without.
func (r *Record) countDone(call *callState) {
	if in := call.intent; !call.counted && in.Upto == 0 && in.Round == r.Round && slices.Contains(r.timed, r.work) {
		call.counted = true
		r.done++
	}
}

// uncount takes back that a call was counted, since it is to be made again.
func (r *Record) uncount(call *callState) {
	if call.counted && call.intent.Round == r.Round {
		r.done--
	}
	call.counted = false
}

// times returns the next moment after now at which a limit of time is reached that still counts. Zero: there is none. While a person
// is asked, the time of a round stands still.
func (r *Record) times(now time.Time) time.Time {
	next := r.wakes(now)
	if began := r.began(); !began.IsZero() && r.State != StateAwaitingInput {
		next = sooner(next, began.Add(r.settings.RoundTimeout), now)
		for _, call := range r.sharing {
			next = sooner(next, began.Add(call.special.share), now)
		}
	}
	return next
}

// wakes is times without the time of the round: it is that of a conversation that waits for a person.
func (r *Record) wakes(now time.Time) (next time.Time) {
	if b := r.settings.Budget; b != nil {
		if b.SoftTime > 0 && r.work != StateCompleting && r.work != StateInitializing {
			next = sooner(next, r.timesFrom.Add(b.SoftTime), now)
		}
		if b.HardTime > 0 {
			next = sooner(next, r.timesFrom.Add(b.HardTime), now)
		}
	}
	for i := range r.Inquiries {
		next = sooner(next, r.Inquiries[i].ends(), now)
	}
	return next
}

// sooner returns the first of two moments after now. The zero time is none.
func sooner(next, t, now time.Time) time.Time {
	if t.After(now) && (next.IsZero() || t.Before(next)) {
		return t
	}
	return next
}

// waitUntil asks for a Tick at t, unless an earlier one was asked for. The zero time asks for none.
func (c *Core) waitUntil(t time.Time) {
	if !t.IsZero() && (c.out.Wait.IsZero() || t.Before(c.out.Wait)) {
		c.out.Wait = t
	}
}

// watchRound leaves out the calls whose share of the round's time is over, and ends a round whose time is over.
func (c *Core) watchRound() (again bool, err error) {
	r := c.record
	began := r.began()
	if began.IsZero() {
		return false, nil
	}
	if !c.in.At.Before(began.Add(r.settings.RoundTimeout)) {
		return c.endRound()
	}
	for _, call := range r.sharing {
		if c.in.At.Before(began.Add(call.special.share)) {
			continue
		}
		missing := c.wanted(call)
		if missing == nil {
			missing = callOf(call.intent)
		}
		fatal, err := c.cutOff(missing, fmt.Sprintf("its share of the round's time of %s is over", r.settings.RoundTimeout))
		if err == nil && fatal != nil {
			err = c.fail(fatal)
		}
		return true, err
	}
	return false, nil
}

// endRound leaves out every call that the round still lacks. Some may show only after the flow has moved on within the
// round: then again is false, and the flow moves on.
func (c *Core) endRound() (again bool, err error) {
	r := c.record
	over := fmt.Sprintf("the round's time of %s is over", r.settings.RoundTimeout)
	var calls []*Call
	step := c.machine.flow.Steps[r.work]
	if step.Calls != nil {
		calls = slices.DeleteFunc(slices.Clone(step.Calls(r)), func(call *Call) bool { return r.Settled(call.ID) })
	}
	if c.heldBack(calls) {
		over += ", in which the limits of the budget had calls wait for each other"
	}
	var fatal *Error // of the first call that is not left out
	for _, call := range calls {
		late, err := c.cutOff(call, over)
		if err != nil {
			return false, err
		}
		if fatal == nil {
			fatal = late
		}
	}
	for _, call := range slices.Clone(r.inFlight) { // such as a summary, or the use of a tool
		if call.intent.Tool != "" { // what it brings is recorded
			c.out.Abort = append(c.out.Abort, call.intent.Call)
		} else if err := c.breakOff(call, over); err != nil {
			return false, err
		}
	}
	if fatal == nil && len(calls) > 0 {
		return true, nil
	}
	if fatal == nil && c.stays(step) {
		return false, nil
	}
	evidence := fmt.Sprintf(
		"the time of round %d, %s, was over before everybody had spoken: raise roundTimeout", r.Round, r.settings.RoundTimeout)
	if err := c.warn(&Warning{Kind: WarnLate, Evidence: evidence}); err != nil || fatal == nil {
		return true, err
	}
	return true, c.fail(fatal)
}

// heldBack reports whether the limits of the budget have kept calls of the round from being made at once, as far as the record shows it:
// one of them still waits for those in flight, or the cap on a reply was lowered.
func (c *Core) heldBack(calls []*Call) bool {
	r := c.record
	if slices.ContainsFunc(r.current, func(call *callState) bool { return call.intent.Lowered > 0 && call.intent.Round == r.Round }) {
		return true
	}
	first := slices.IndexFunc(calls, func(call *Call) bool { return r.calls[call.ID] == nil })
	if first < 0 {
		return false
	}
	ready, intent, failure := c.prepare(calls[first], false)
	return failure == nil && !c.fits(beginning{ready, intent})
}

// decided reports whether a person, a rule or the flow has decided what follows a failed call.
func (r *Record) decided(id string) bool {
	call := r.calls[id]
	return call != nil && call.status == callFailed && (call.trouble.instead || call.trouble.fired || call.trouble.chosen != "")
}

// stays reports whether what the flow fires next leads back to the present state.
func (c *Core) stays(step Step) bool {
	if step.Next == nil {
		return false
	}
	on, _, ok := step.Next(c.record)
	if !ok {
		return false
	}
	return c.machine.leads(c.record, on) == c.record.State
}

// callOf returns the call of an intent, as far as its being left out needs it.
func callOf(in *Intent) *Call {
	return &Call{ID: in.Call, Kind: in.Kind, By: in.By, Round: in.Round, Slot: in.Slot}
}

// cutOff breaks off a call and leaves it out. It does not if the conversation cannot do without the call, or if the actor has
// missed the round before as well and owes the call: fatal is the failure that the conversation ends in.
func (c *Core) cutOff(call *Call, why string) (fatal *Error, _ error) {
	if state := c.record.calls[call.ID]; state != nil && state.status == callInFlight {
		if err := c.breakOff(state, why); err != nil {
			return nil, err
		}
	}
	if call.SkipWith != "" {
		return nil, c.skipWith(call)
	}
	second := !call.OnFail.spares() && c.record.missed(call.ID, call.By) > 0
	if second || call.Needed {
		what := "and the conversation cannot do without this call"
		if second {
			what = "for the second round in a row"
		}
		err := fmt.Errorf("%s, %s", why, what)
		return &Error{
			Kind: provider.KindTimeout, Op: call.ID, Field: fieldname.RoundTimeout, Participant: call.By, Round: call.Round, Err: err,
		}, nil
	}
	return nil, c.skip(call, why, "")
}

// breakOff ends an attempt for good.
func (c *Core) breakOff(call *callState, why string) error {
	r := c.record
	c.out.Abort = append(c.out.Abort, call.intent.Call)
	failure := &Error{Kind: provider.KindTimeout, Field: fieldname.RoundTimeout, Err: errors.New(why)}
	return c.emit(Event{Body: &Failure{
		Spend: r.unknownSpend(call.intent), By: call.intent.By, Error: c.locate(call, failure), Final: true,
	}})
}
