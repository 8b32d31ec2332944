package deliberation

import (
	"fmt"
	"strconv"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// A prompt that does not fit the window of its model is made smaller, step by step, before anybody gives up. Each
// step is a call of its own, so that the log tells what was asked in the end.

// mostShort is how often a prompt is made smaller.
const mostShort = 3

// attempt is a call that has to be made, perhaps with a smaller prompt than it should have had.
type attempt struct {
	id    string // under which it is made now
	short int    // how often it was made smaller: 0 to mostShort
	cause *flow.Error
}

// attempt returns how a call is made now: as it should be, or made smaller as often as it did not fit.
func (b *board) attempt(id string) attempt {
	a := attempt{id: id}
	for a.short < mostShort {
		failure := b.FailureOf(a.id)
		if failure == nil || failure.Kind != provider.KindContextOverflow {
			break
		}
		a.short, a.cause = a.short+1, failure
		a.id = id + ".short" + strconv.Itoa(a.short)
	}
	return a
}

// plainly is an attempt at what cannot be made smaller.
func plainly(id string) attempt { return attempt{id: id} }

// cut leaves of a text a half, a quarter, an eighth: as often as it says.
func cut(text string, halves int) string {
	if halves <= 0 {
		return text
	}
	return shorten(text, max(2*characters(cutMark), characters(text)>>halves))
}

// smaller warns of a call that was made with less than it should have had.
func (a attempt) smaller(by, how string) flow.Warning {
	return flow.Warning{Kind: WarnShortened, Call: a.id, By: by, Evidence: fmt.Sprintf("%s: %s is made %s", a.cause, a.id, how)}
}

// failing warns of a call that has failed for good.
func (b *board) failing(id, by, what string) flow.Warning {
	evidence := fmt.Sprintf("%s: %s has failed for good", what, id)
	if failure := b.FailureOf(id); failure != nil {
		evidence += fmt.Sprintf(" (%s)", failure.Kind)
	}
	return flow.Warning{Kind: flow.WarnLeftOut, Call: id, By: by, Evidence: evidence}
}
