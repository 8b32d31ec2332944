package deliberation

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// refines reports whether an agent refines in this round: if something of it stands, and somebody has said
// something about it. What was refined already does not count.
func (b *board) refines(w *work) bool {
	return w.active && w.standing() != nil && len(b.heard(w)) > 0
}

func refineCalls(r *flow.Record) []*flow.Call {
	return soloCalls(r, StateRefining, KindRefinement, slotRefine, func(now *flow.Record, b *board, w *work, a attempt) string {
		var text strings.Builder
		b.history(&text, w, w, a.history)
		for _, t := range append([]*flow.Turn{w.standing()}, b.heard(w)...) {
			b.quoteNow(&text, t, a.halves)
		}
		ask := b.ask(now, "ask.refine."+w.ID, KindRefinement)
		if b.shares() && (a.short > 0 || !b.quoteOthers(&text, w)) && !b.plain {
			ask = cmp.Or(now.Text(textAlone+w.ID), ask)
		}
		return text.String() + ask + a.note("refinement")
	})
}

func (b *board) refining(w *work) attempt {
	steps := b.fewer(w)
	if b.shares() {
		steps = alone(steps)
	}
	return b.attempt(b.id("refine", w.ID), steps)
}

// alone begins steps with one without the others' proposals. The steps behind it do without them too.
func alone(steps func() []step) func() []step {
	const how = "without the others' proposals"
	return func() []step {
		out := []step{{readAll, 0, how}}
		for _, s := range steps() {
			s.how = how + ", " + s.how
			out = append(out, s)
		}
		return out
	}
}

// shares reports whether refinements are shown the others' proposals: the rounds may end because the agents agree, so they must have read
// what they could agree on. Where all read the whole history, it has the proposals of the rounds before.
func (b *board) shares() bool {
	return b.Text(textOthers) != "" && (!b.whole() || b.round == 1 || b.config.Proposals == ProposalsFresh)
}

// peers returns the others' proposals as they stand when the refining begins: what somebody refines meanwhile changes no other's prompt.
func (b *board) peers(w *work) []*flow.Turn {
	var out []*flow.Turn
	for _, v := range b.finalists(0) {
		if t := v.entered(b.round); v != w && t != nil && (!b.whole() || t.Round >= b.round) {
			out = append(out, t)
		}
	}
	return out
}

// entered returns what an agent had when the refining of a round began; nil: it had nothing.
func (w *work) entered(round int) *flow.Turn {
	for _, t := range slices.Backward(w.own) {
		if t.Kind != KindRefinement || t.Round < round {
			return t
		}
	}
	return nil
}

// quoteOthers writes the others' proposals. It reports whether there are any.
func (b *board) quoteOthers(text *strings.Builder, w *work) bool {
	peers := b.peers(w)
	for i, t := range peers {
		if i == 0 && !b.plain {
			text.WriteString(b.Text(textOthers) + "\n")
		}
		b.quoteNow(text, t, 0)
	}
	return len(peers) > 0
}

func refined(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	return read(r).after(triggerRefined, StateRefining, evaluateCalls)
}
