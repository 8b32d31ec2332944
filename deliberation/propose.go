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
	return soloCalls(r, StateProposing, KindProposal, slotPropose, func(now *flow.Record, b *board, w *work, a attempt) string {
		var text strings.Builder
		b.history(&text, w, w, a.history)
		if former := w.standing(); former != nil {
			b.quoteNow(&text, former, a.halves)
		}
		return text.String() + b.ask(now, "ask.propose."+w.ID, KindProposal) + a.note("proposal")
	})
}

func (b *board) proposalOf(w *work) attempt {
	return b.attempt(b.id("propose", w.ID), b.fewer(w))
}

func proposed(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	return read(r).after(triggerProposed, StateProposing, critiqueCalls)
}
