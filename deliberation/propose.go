package deliberation

import (
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// proposes reports whether an agent still needs a proposal in this round: a fresh one, or one at all.
func (b *board) proposes(w *work) bool {
	return w.active && (b.config.Proposals == ProposalsFresh || w.standing() == nil)
}

func proposeCalls(r *flow.Record) []*flow.Call {
	if r.Late() {
		return nil
	}
	b := read(r)
	var calls []*flow.Call
	var wanted []*work
	for i := range b.agents {
		w := &b.agents[i]
		a := b.proposalOf(w)
		if !b.proposes(w) || !b.missing(a.id) {
			continue
		}
		if lacking := b.lacking(w, a); len(lacking) > 0 {
			wanted = append(wanted, lacking...)
			continue
		}
		call := b.work(w, a.id, KindProposal)
		call.Slot, call.OnFail = b.slot(slotPropose, w.seat, 0), a.onFail(call.OnFail)
		call.Last = func(*flow.Record) string {
			var text strings.Builder
			b.history(&text, w, w, a.history)
			if former := w.standing(); former != nil {
				b.quoteNow(&text, former, a.halves)
			}
			return text.String() + r.Text("ask.propose."+w.ID) + a.note("proposal")
		}
		calls = append(calls, call)
	}
	return append(calls, b.digests(false, wanted)...)
}

func (b *board) proposalOf(w *work) attempt {
	return b.attempt(b.id("propose", w.ID), b.fewer(w))
}

func proposed(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	return read(r).after(TriggerProposed, StateProposing, critiqueCalls)
}
