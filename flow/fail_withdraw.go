package flow

import (
	"errors"
	"slices"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// This file ends what the flow no longer wants: attempts in flight at calls that its Calls leaves out since the record has
// changed, and questions about such calls.

// Withdrawn records that the flow no longer wants a call: an input, a drop or another call's result has made it unnecessary, or a model
// was given to the person who is asked.
// What is in flight for the call is aborted. The call is removed from open inquiries, and an inquiry without a call is closed.
// If the flow wants the call again, it is made from the beginning.
type Withdrawn struct {
	Call  string   `json:"call" redact:"-"`
	Kind  CallKind `json:"kind" redact:"-"`
	By    string   `json:"by" redact:"-"` // the actor that was asked
	Round int      `json:"round,omitempty"`
}

// withdraw withdraws the calls that the flow no longer wants. calls are those that it wants. again reports that the record has
// changed.
//
// An attempt in flight ends here, and counts as broken off. The use of a tool is only aborted: what it brings is recorded.
func (c *Core) withdraw(calls []*Call) (again bool, err error) {
	r := c.record
	for _, call := range r.unwanted(calls) {
		in := call.intent
		if err := c.emit(Event{Body: &Withdrawn{Call: in.Call, Kind: in.Kind, By: in.By, Round: in.Round}}); err != nil {
			return false, err
		}
		for _, flying := range slices.Clone(r.inFlight) {
			if flying != call && !flying.serves(in.Call) {
				continue
			}
			c.out.Abort = append(c.out.Abort, flying.intent.Call)
			if flying != call {
				continue
			}
			failure := &Error{Kind: provider.KindCanceled, Err: errors.New("the flow no longer wants this call")}
			if err := c.emit(Event{Body: &Failure{
				Spend: r.unknownSpend(in), By: in.By, Error: c.locate(call, failure), Void: true,
			}}); err != nil {
				return false, err
			}
		}
		again = true
	}
	return again, nil
}

// serves reports whether the call is a use of a tool that another call asks for.
func (c *callState) serves(call string) bool { return c.intent.Tool != "" && c.intent.For == call }

// mayWithdraw reports whether there is anything that could be withdrawn. What the flow wants of a round shows when it has begun.
func (r *Record) mayWithdraw() bool {
	return r.owed == nil && len(r.inFlight)+len(r.Inquiries)+len(r.failing) > 0
}

// unwanted returns the calls that the flow no longer returns but that are still pending: in flight, awaiting a person, or
// failed and undecided since the last input. It does not return a call that has failed without an input since: a flow that
// omits it forgets it.
func (r *Record) unwanted(calls []*Call) []*callState {
	if !r.mayWithdraw() {
		return nil
	}
	var out []*callState
	wants := wanting{calls: calls}
	look := func(call *callState) {
		if call != nil && call.intent != nil && !call.over() && !wants.has(call.intent) && !slices.Contains(out, call) {
			out = append(out, call)
		}
	}
	for _, call := range r.inFlight {
		switch {
		case call.aborted || call.drains:
		case call.intent.Tool != "":
			look(r.calls[call.intent.For])
		default:
			look(call)
		}
	}
	for i := range r.Inquiries {
		q := &r.Inquiries[i]
		switch {
		case q.Use != nil:
			look(r.calls[q.Use.For])
		case len(q.Options) == 0:
			look(r.calls[q.ID])
		}
		for k := range q.About {
			look(r.calls[q.About[k].Call])
		}
	}
	for _, call := range r.failing {
		if n := len(r.Inputs); n > 0 && r.undecidedAbout(call) && r.Inputs[n-1].Seq > call.trouble.failedAt {
			look(call)
		}
	}
	return out
}

// wanting finds calls among those that a flow wants. Attempts are begun in the order of the calls, so that each is looked for from
// the place of the one before.
type wanting struct {
	calls []*Call
	at    int
}

// has reports whether the flow wants the call of an intent. Of a summary it wants whichever a call may read.
func (w *wanting) has(in *Intent) bool {
	for range w.calls {
		call := w.calls[w.at]
		if call.ID == in.Call || in.Upto > 0 && call.Performer == ByModel && !call.View.None {
			return true
		}
		w.at = (w.at + 1) % len(w.calls)
	}
	return false
}

// over reports whether the call has its result, or was left out.
func (c *callState) over() bool { return c.status == callDone || c.status == callSkipped }

// foldWithdrawn folds that the flow no longer wants a call.
func (r *Record) foldWithdrawn(w *Withdrawn) error {
	call := r.calls[w.Call]
	if call == nil || call.intent == nil || call.over() {
		return invalid("withdrawn.call", "%q is no call without a result", text.OneLine(w.Call, 80))
	}
	asked := call.status == callInFlight && !slices.Contains(r.inFlight, call) // a person
	for _, flying := range r.inFlight {
		flying.aborted = flying.aborted || flying == call || flying.serves(w.Call)
	}
	r.unshare(call)
	r.closeInquiries(w.Call)
	r.withdraw(func(q *Inquiry) bool {
		return len(q.Options) == 0 && q.ID == w.Call || q.Use != nil && q.Use.For == w.Call
	})
	if asked {
		call.status = callIdle
		r.relieved = r.relieved || r.swapOf(call.intent.By) != nil
	}
	r.renew(w.Call)
	call.withdrawn = true
	call.forgive() // also where an attempt that asks again is in flight
	return nil
}
