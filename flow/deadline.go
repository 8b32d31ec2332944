package flow

import (
	"fmt"
	"slices"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// deadline returns when the time of the present round is over. Zero: never.
func (r *Record) deadline() time.Time {
	if r.terms.RoundTimeout <= 0 || r.late || !slices.Contains(r.timed, r.work) || r.roundAt.IsZero() {
		return time.Time{}
	}
	begins := r.roundAt
	if r.Round > 1 {
		begins = begins.Add(r.terms.RoundDelay)
	}
	return begins.Add(r.terms.RoundTimeout)
}

// times returns the next moment after now at which a limit of time is reached. Zero: there is none.
func (r *Record) times(now time.Time) time.Time {
	var next time.Time
	at := func(t time.Time) {
		if t.After(now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	if b := r.terms.Budget; b != nil {
		if b.SoftTime > 0 && r.State != StateCompleting {
			at(r.StartedAt.Add(b.SoftTime))
		}
		if b.HardTime > 0 {
			at(r.StartedAt.Add(b.HardTime))
		}
	}
	if d := r.deadline(); !d.IsZero() {
		at(d)
	}
	return next
}

// waitUntil asks for a Tick at t, unless an earlier one was asked for. The zero time asks for none.
func (c *Core) waitUntil(t time.Time) {
	if !t.IsZero() && (c.out.Wait.IsZero() || t.Before(c.out.Wait)) {
		c.out.Wait = t
	}
}

// watchRound ends a round whose time is over. The calls in flight fail for good.
func (c *Core) watchRound() (again bool, err error) {
	r := c.record
	deadline := r.deadline()
	if deadline.IsZero() || c.in.At.Before(deadline) {
		return false, nil
	}
	for len(r.inFlight) > 0 {
		call := r.inFlight[0]
		wanted := c.wanted(call)
		c.out.Abort = append(c.out.Abort, call.intent.Call)
		failure := &Error{Kind: provider.KindTimeout, Err: fmt.Errorf("the round's time of %s is over", r.terms.RoundTimeout)}
		if err := c.emit(Event{Body: &Failure{
			Spend: r.charge(call.intent, provider.Usage{}, false), By: call.intent.By, Error: c.locate(call, failure), Final: true,
		}}); err != nil {
			return false, err
		}
		if !c.record.isActive(call.intent.By) || r.IsDropped(call.intent.By) || wanted != nil && wanted.OnFail.Skip {
			continue
		}
		if !c.machine.flow.spares(r, call.intent.By) {
			if r.Round > 1 {
				continue // only late, which is no reason to end the conversation
			}
			return true, c.fail(call.trouble.failure)
		}
		if err := c.drop(call.intent.By, call.trouble.failure.Error()); err != nil {
			return false, err
		}
	}
	evidence := fmt.Sprintf("the time of round %d, %s, was over before everybody had spoken", r.Round, r.terms.RoundTimeout)
	return true, c.warn(&Warning{Kind: WarnLate, Evidence: evidence})
}
