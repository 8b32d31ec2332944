package deliberation

import (
	"fmt"
	"strconv"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// A prompt that does not fit the window of its model is made smaller, step by step, before anybody gives up. Each
// step is a call of its own, so that the log tells what was asked in the end.

// reading is what a prompt holds of the rounds before.
type reading uint8

const (
	readAll       reading = iota // what is asked for
	readSummaries                // the summaries alone
	readParts                    // a part of each summary
	readNothing
)

// halves is how often what is read is halved.
func (r reading) halves() int {
	if r == readParts {
		return 1
	}
	return 0
}

// step is one way to make a prompt smaller. Which steps a call has does not change while it is being made.
type step struct {
	history reading
	halves  int    // how often each other text is halved
	how     string // how the call is made then: "of a part of each proposal"
}

// halved are the steps of a prompt of which nothing can be left out.
func halved(how string) func() []step {
	return func() []step { return []step{{readNothing, 1, how}, {readNothing, 2, how}, {readNothing, 3, how}} }
}

// attempt is a call that has to be made, perhaps with a smaller prompt than it should have had.
type attempt struct {
	id    string // under which it is made now
	short int    // how often it was made smaller
	last  bool   // it cannot be made any smaller
	step         // how it is made now; the zero value: as it should be
	cause *flow.Error
}

// attempt returns how a call is made now: as it should be, or made smaller as often as it did not fit.
func (b *board) attempt(id string, steps func() []step) attempt {
	a := attempt{id: id}
	var all []step
	for !a.last {
		failure := b.FailureOf(a.id)
		if failure == nil || failure.Kind != provider.KindContextOverflow {
			break
		}
		if all == nil {
			all = steps()
		}
		a.step, a.cause = all[a.short], failure
		a.short++
		a.id, a.last = id+".short"+strconv.Itoa(a.short), a.short == len(all)
	}
	return a
}

// onFail adds to what the failure of a call may cost that a smaller prompt takes the place of one that did not fit.
func (a attempt) onFail(cost flow.OnFail) flow.OnFail {
	if !a.last {
		cost.Instead = []flow.Kind{provider.KindContextOverflow}
	}
	return cost
}

// note tells the reader of a smaller prompt what it lacks: "the critique is made of a part of the proposal".
func (a attempt) note(what string) string {
	if a.short == 0 {
		return ""
	}
	return "\n\nNot all of the deliberation fits here: the " + what + " is made " + a.how + "."
}

// plainly is an attempt at what cannot be made smaller.
func plainly(id string) attempt { return attempt{id: id, last: true} }

// cut leaves of a text a half, a quarter, an eighth: as often as it says.
func cut(text string, halves int) string {
	if halves <= 0 {
		return text
	}
	return shorten(text, max(2*characters(cutMark), characters(text)>>halves))
}

// smaller warns of a call that was made with less than it should have had.
func (a attempt) smaller(by string) flow.Warning {
	return flow.Warning{Kind: WarnShortened, Call: a.id, By: by, Evidence: fmt.Sprintf("%s: %s is made %s", a.cause, a.id, a.how)}
}

// failing warns of a call that has failed for good.
func (b *board) failing(kind flow.WarningKind, id, by, what string) flow.Warning {
	evidence := fmt.Sprintf("%s: %s has failed for good", what, id)
	if failure := b.FailureOf(id); failure != nil {
		evidence += fmt.Sprintf(" (%s)", failure.Kind)
	}
	return flow.Warning{Kind: kind, Call: id, By: by, Evidence: evidence}
}
