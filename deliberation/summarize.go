package deliberation

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agonist-dev/debate/flow"
)

// The history of an agent is what it was part of: its proposals, what was said of them, its refinements.
// Each item belongs to one round: that from which on it stood, or in which it was said. A summary made in a
// round covers all rounds before it (with Config.FullHistory off all but the last of them), the summary
// before it included, so nothing is read twice.

// stood is the round from which on a proposal or refinement of an agent stood. One that is carried over is
// the next round's proposal.
func (k *sorted) stood(t *flow.Turn) int {
	if t.Kind == KindRefinement && k.config.Proposals != ProposalsFresh {
		return t.Round + 1
	}
	return t.Round
}

// items returns an agent's history of the rounds after one and before another, oldest first. What stands now may be
// among it: a summary holds it too, for it stands in the summary's place once something else stands.
func (k *sorted) items(w *work, after, before int) []*flow.Turn {
	var out []*flow.Turn
	for n, past := range w.past { // not from after to before: a hostile log may name any round
		if n > max(0, after) && n < before {
			out = append(out, past...)
		}
	}
	slices.SortStableFunc(out, byPlace)
	return out
}

// since returns the items that somebody reads after a summary. What stands now is left out: it is shown by itself.
func (b *board) since(w *work, after, before int) []*flow.Turn {
	standing := w.standing()
	return slices.DeleteFunc(b.items(w, after, before), func(t *flow.Turn) bool { return t == standing })
}

// covered is the last round that a summary covers.
func (k *sorted) covered(digest *flow.Turn) int {
	if digest == nil {
		return 0
	}
	return digest.Round - 1 - k.config.lag()
}

// digest returns an agent's latest summary made before a round, or in it; nil: there is none.
func (w *work) digest(round int) *flow.Turn {
	for _, t := range slices.Backward(w.digests) {
		if t.Round <= round {
			return t
		}
	}
	return nil
}

// history writes an agent's history before a round: the summary, and what it does not cover, so that no round is lost.
// With Config.FullHistory off that is the last round, and those before it that no summary was worth. Who makes no
// summaries reads the last round alone.
func (b *board) history(text *strings.Builder, w *work, before int) {
	digest := w.digest(before)
	after := b.covered(digest)
	b.quoteDigest(text, w, digest)
	if !b.config.wholeHistory() && w.summaries.Off {
		after = before - 2
	}
	for _, t := range b.since(w, after, before) {
		b.quoteOwn(text, t)
	}
}

func (b *board) quoteDigest(text *strings.Builder, w *work, digest *flow.Turn) {
	if digest == nil {
		return
	}
	label := fmt.Sprintf("%s: summary of rounds 1 to %d", w.ID, b.covered(digest))
	text.WriteString(b.Quote(label, w.shown(digest)) + "\n")
}

// shown is a summary as it is read: not longer than its agent's settings say.
func (w *work) shown(digest *flow.Turn) string {
	return shorten(digest.Text, w.summaries.MaxLength)
}

// cutMark ends a summary that was cut.
const cutMark = " […cut]"

// shorten cuts a text visibly to so many characters.
func shorten(text string, most int) string {
	text = strings.TrimSpace(text)
	if len(text) <= most || most <= 0 || utf8.RuneCountInString(text) <= most {
		return text
	}
	left := most - utf8.RuneCountInString(cutMark)
	for i := range text {
		if left == 0 {
			return strings.TrimRight(text[:i], " \n") + cutMark
		}
		left--
	}
	return text
}

// early reports whether summaries are made before the proposals, because these read them too. Otherwise they
// are made while the critiques are, and nothing waits for them.
func (b *board) early() bool { return b.config.Proposals == ProposalsFresh }

// digests returns the summaries of this round that are still missing. Which are due depends on earlier rounds
// alone, so that it is the same however often it is asked.
func (b *board) digests() []flow.Call {
	if b.Late() {
		return nil
	}
	var calls []flow.Call
	for i := range b.agents {
		w := &b.agents[i]
		if !b.missing(b.id("summarize", w.ID)) {
			continue
		}
		if former, items, due := b.due(w); due {
			calls = append(calls, b.summary(w, former, items))
		}
	}
	return calls
}

// summary asks for the summary of a former one and what came after it.
func (b *board) summary(w *work, former *flow.Turn, items []*flow.Turn) flow.Call {
	call := b.call(w, b.id("summarize", w.ID), KindDigest)
	call.Slot, call.System = b.slot(slotDigest, w.seat, 0), b.system("summarizer."+w.ID)
	call.Last = func(r *flow.Record) string {
		var text strings.Builder
		b.quoteDigest(&text, w, former)
		for _, t := range items {
			b.quoteOwn(&text, t)
		}
		return text.String() + r.Text("ask.summarize."+w.ID)
	}
	return call
}

// slack bounds, in characters, what markers and labels add to a quotation.
const slack = 120

// due reports whether an agent's history is to be summarised in this round, and what of it: the summary
// before, and the items after that.
//
// It is if the characters that this saves are certain to be more than those that it takes. The summary takes
// its prompt. Each reader saves the difference between what it would have read and the longest summary. The
// readers that are certain are, for every round that is certain to come, the refinement and a fresh proposal;
// and the judge's synthesis. As each summary pays for itself against making no further one, all of them
// together never cost more than none.
func (b *board) due(w *work) (former *flow.Turn, items []*flow.Turn, due bool) {
	if w.summaries.Off || !w.active || w.standing() == nil || b.round < 2 {
		return nil, nil, false
	}
	former = w.digest(b.round - 1)
	items = b.items(w, b.covered(former), b.round-b.config.lag())
	if len(items) == 0 {
		return nil, nil, false
	}
	size, shown := 0, 0
	if former != nil {
		size = characters(w.shown(former))
	}
	for _, t := range items {
		n := characters(t.Text)
		if size += n; t == w.standing() {
			shown = n // to its readers by itself: nothing is saved of it
		}
	}
	if size <= w.summaries.Threshold {
		return nil, nil, false
	}
	takes := size + (len(items)+2)*slack + characters(b.system("summarizer."+w.ID)) + characters(b.Text("ask.summarize."+w.ID))
	saves := b.readers() * (size - shown - w.summaries.MaxLength - slack)
	return former, items, saves > takes
}

// readers is how many calls are certain to read an agent's history from this round on.
func (b *board) readers() int {
	rounds, each := 1, 1
	if b.config.Termination.Kind == TerminationFixed {
		rounds = b.config.Rounds - b.round + 1
	}
	if b.early() {
		each = 2
	}
	n := rounds * each
	if b.config.Synthesis == SynthesisJudge {
		n++
	}
	return n
}

// digestCalls returns the summaries that the proposals of this round read.
func digestCalls(r *flow.Record) []flow.Call {
	b := read(r)
	if !b.early() {
		return nil
	}
	return b.digests()
}

func contextsReady(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	b := read(r)
	exit := flow.Exit{Calls: len(proposeCalls(r))}
	if b.early() {
		exit.Warnings = b.unsummarized()
	}
	return TriggerContextsReady, exit, true
}

// unsummarized warns of the summaries of this round that could not be made.
func (b *board) unsummarized() []flow.Warning {
	var warnings []flow.Warning
	for i := range b.agents {
		w := &b.agents[i]
		if id := b.id("summarize", w.ID); b.Failed(id) {
			warnings = append(warnings, flow.Warning{
				Kind: WarnSummary, Call: id, By: w.ID,
				Evidence: fmt.Sprintf("the history of %s is read whole: its summary has failed for good", w.Name),
			})
		}
	}
	return warnings
}
