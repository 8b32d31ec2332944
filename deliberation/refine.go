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
	var wanted []*work
	for i := range b.agents {
		w := &b.agents[i]
		a := b.refining(w)
		if !b.refines(w) || !b.missing(a.id) {
			continue
		}
		if lacking := b.lacking(w, a); len(lacking) > 0 {
			wanted = append(wanted, lacking...)
			continue
		}
		call := b.work(w, a.id, KindRefinement)
		call.Slot, call.OnFail = b.slot(slotRefine, w.seat, 0), a.onFail(call.OnFail)
		call.Last = func(r *flow.Record) string {
			var text strings.Builder
			b.history(&text, w, w, a.history)
			for _, t := range append([]*flow.Turn{w.standing()}, b.heard(w)...) {
				b.quoteNow(&text, t, a.halves)
			}
			return text.String() + r.Text("ask.refine."+w.ID) + a.note("refinement")
		}
		calls = append(calls, call)
	}
	return append(calls, b.digests(false, wanted)...)
}

func (b *board) refining(w *work) attempt { return b.attempt(b.id("refine", w.ID), b.fewer(w)) }

func refined(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	return read(r).after(TriggerRefined, StateRefining, evaluateCalls)
}
