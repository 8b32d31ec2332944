package deliberation

import (
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// proposes reports whether an agent still needs a proposal in this round: a fresh one, or one at all.
func (b *board) proposes(w *work) bool {
	return w.active && (b.config.Proposals == ProposalsFresh || w.standing() == nil)
}

func proposeCalls(r *flow.Record) []flow.Call {
	if r.Late() {
		return nil
	}
	b := read(r)
	var calls []flow.Call
	for i := range b.agents {
		w := &b.agents[i]
		a := b.attempt(b.id("propose", w.ID))
		if !b.proposes(w) || !b.missing(a.id) {
			continue
		}
		call := b.work(w, a.id, KindProposal)
		call.Slot = b.slot(slotPropose, w.seat, 0)
		call.Last = func(*flow.Record) string {
			var text strings.Builder
			if a.short == 0 {
				b.history(&text, w, b.round)
			}
			if former := w.standing(); former != nil {
				b.quoteNow(&text, former, a.short-1)
			}
			return text.String() + r.Text("ask.propose."+w.ID)
		}
		calls = append(calls, call)
	}
	return calls
}

func proposed(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	return TriggerProposed, read(r).exit(StateProposing, critiqueCalls), true
}
