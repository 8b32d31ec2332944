package deliberation

import (
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// refines reports whether an agent refines in this round: if something of it stands, and somebody has said
// something about it. What was refined already does not count.
func (b *board) refines(w *work) bool {
	return w.active && w.standing() != nil && len(b.heard(w)) > 0
}

func refineCalls(r *flow.Record) []flow.Call {
	if r.Late() {
		return nil
	}
	b := read(r)
	var calls []flow.Call
	for i := range b.agents {
		w := &b.agents[i]
		a := b.attempt(b.id("refine", w.ID))
		if !b.refines(w) || !b.missing(a.id) {
			continue
		}
		call := b.work(w, a.id, KindRefinement)
		call.Slot = b.slot(slotRefine, w.seat, 0)
		call.Last = func(r *flow.Record) string {
			var text strings.Builder
			if a.short == 0 {
				b.history(&text, w, b.round)
			}
			for _, t := range append([]*flow.Turn{w.standing()}, b.heard(w)...) {
				b.quoteNow(&text, t, a.short-1)
			}
			return text.String() + r.Text("ask.refine."+w.ID)
		}
		calls = append(calls, call)
	}
	return calls
}

func refined(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	return TriggerRefined, read(r).exit(StateRefining, evaluateCalls), true
}
