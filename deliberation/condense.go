package deliberation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// A prompt that reads the rounds before, and does not fit, reads them in summaries. Those that are missing are made for it.

// lacking returns the agents whose summaries a call waits for, because it did not fit and reads no more of the rounds
// before than these: an agent's call, or that for the solution, which reads all of them.
func (b *board) lacking(w *work, a attempt) []*work {
	if a.history != readSummaries {
		return nil
	}
	var out []*work
	for i := range b.agents {
		if v := &b.agents[i]; b.condensable(v) && (w == nil || v == w) && b.covered(v.digest(b.round)) < b.round-1 &&
			!b.givenUp(b.summarizing(v)) && !b.givenUp(b.condensing(v)) {
			out = append(out, v)
		}
	}
	return out
}

func (b *board) givenUp(a attempt) bool { return b.Failed(a.id) || b.Skipped(a.id) }

// condensable reports whether an agent has a history that it may summarise for a prompt that does not fit. For the
// solution it may not where a budget has hard limits: nothing is kept back for that.
func (b *board) condensable(w *work) bool {
	budget := b.Settings().Budget
	return w.active && !w.summaries.Off && b.summarises(w) && b.config.readsHistory() && b.began(w) &&
		(b.Working() != flow.StateCompleting || budget == nil || budget.Hard == 0 && budget.HardTokens == 0 && budget.HardCalls == 0)
}

// fewer are the steps of a prompt that reads the rounds before: no more of them than the agent's summary, which is made if it
// is missing, then a part of that, then nothing, then a part of the other texts.
func (b *board) fewer(w *work) func() []step {
	return func() []step {
		if !b.past(w) {
			return halved("of a part of each text")()
		}
		return b.fewerOf(w)
	}
}

func (b *board) fewerOf(w *work) []step {
	const part = "without the history, and of a part of each text"
	steps := []step{{readNothing, 0, "without the history"}, {readNothing, 1, part}, {readNothing, 2, part}}
	if !b.condensable(w) {
		return steps
	}
	summary := b.summaryRead(w)
	steps = append([]step{{readParts, 0, "with a part of " + summary + " alone"}}, steps...)
	if slices.ContainsFunc(w.digests, func(t *flow.Turn) bool { return t.Round == b.round && !condensed(t) }) {
		return steps // the prompt has read it
	}
	return append([]step{{readSummaries, 0, "with " + summary + " alone"}}, steps...)
}

// summaryRead says which summaries a prompt for an agent reads.
func (b *board) summaryRead(w *work) string {
	if digest := w.digest(b.round); digest != nil {
		return fmt.Sprintf("the summary of rounds 1 to %d", b.covered(digest))
	}
	return "the summary of the rounds before"
}

// past reports whether a prompt for an agent reads anything of the rounds before.
func (b *board) past(w *work) bool {
	if !b.whole() {
		return b.config.FullHistory == nil && b.began(w)
	}
	return slices.ContainsFunc(b.loose, func(t *flow.Turn) bool { return t.Round < b.round }) ||
		slices.ContainsFunc(b.agents, func(v work) bool { return b.began(&v) })
}

// began reports whether an agent has a history of the rounds before.
func (b *board) began(w *work) bool {
	for n, past := range w.past {
		if n > 0 && n < b.round && len(past) > 0 {
			return true
		}
	}
	return false
}

// condensed reports whether a summary was made because a prompt did not fit.
func condensed(t *flow.Turn) bool {
	_, rest, _ := strings.Cut(t.Call, ".")
	return strings.HasPrefix(rest, "condense.")
}
