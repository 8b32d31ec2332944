package deliberation

import (
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// critiqueCalls returns the critiques, and beside them the summaries that refining will read, unless these were made before. A critique
// that is there changes nothing about the others: they are hidden from each other, and the summaries are of the rounds before.
func critiqueCalls(r *flow.Record) []*flow.Call {
	if r.Late() {
		return nil
	}
	b := read(r)
	var calls []*flow.Call
	var wanted []*work
	for i := range b.agents {
		w := &b.agents[i]
		if !w.active {
			continue
		}
		each := b.work(w, "", KindCritique)
		for _, seat := range b.targets(i) {
			target := &b.agents[seat]
			a := b.critiquing(w, target)
			if !b.missing(a.id) {
				continue
			}
			if lacking := b.lacking(w, a); len(lacking) > 0 {
				wanted = append(wanted, lacking...)
				continue
			}
			one := *each
			call := &one
			call.ID, call.Target, call.Slot, call.OnFail = a.id, target.ID, b.slot(slotCritique, i, seat), a.onFail(call.OnFail)
			if w.Person { // a model may stand in for one of them alone
				w.Agent.seat(b.config, "").AskIn(r, call)
			}
			b.word(call, func(b *board, now *flow.Record) string {
				var text strings.Builder
				if b.whole() {
					b.history(&text, w, target, a.history)
				}
				b.quoteNow(&text, target.standing(), a.halves)
				return text.String() + b.ask(now, "ask.critique."+w.ID, KindCritique) + a.note("critique")
			})
			calls = append(calls, call)
		}
	}
	return append(calls, b.digests(!b.early(), wanted)...)
}

func (b *board) critiquing(w, target *work) attempt {
	steps := halved("of a part of the proposal")
	if b.whole() {
		steps = b.fewer(w)
	}
	return b.attempt(b.id("critique", w.ID, target.ID), steps)
}

func critiqued(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	return read(r).after(triggerCritiqued, StateCritiquing, refineCalls)
}
