package deliberation

import (
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// critiqueCalls returns the critiques, and beside them the summaries that refining will read.
func critiqueCalls(r *flow.Record) []flow.Call {
	if r.Late() {
		return nil
	}
	b := read(r)
	var calls []flow.Call
	for i := range b.agents {
		w := &b.agents[i]
		if !w.active {
			continue
		}
		for _, seat := range b.targets(i) {
			target := &b.agents[seat]
			a := b.attempt(b.id("critique", w.ID, target.ID))
			if !b.missing(a.id) {
				continue
			}
			call := b.work(w, a.id, KindCritique)
			call.Target, call.Slot = target.ID, b.slot(slotCritique, i, seat)
			call.Last = func(r *flow.Record) string {
				var text strings.Builder
				b.quoteNow(&text, target.standing(), a.short)
				return text.String() + r.Text("ask.critique."+w.ID)
			}
			calls = append(calls, call)
		}
	}
	if !b.early() {
		calls = append(calls, b.digests()...)
	}
	return calls
}

func critiqued(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	b := read(r)
	exit := b.exit(StateCritiquing, refineCalls)
	if !b.early() {
		exit.Warnings = append(exit.Warnings, b.unsummarized()...)
	}
	return TriggerCritiqued, exit, true
}
