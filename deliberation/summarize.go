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
// round covers all rounds before it, the summary before it included, so nothing is read twice. Together the
// histories of all agents hold all that was said.

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

// since returns what was said before a round and is not in the summary of an agent's history. What stands now is left
// out: it is shown by itself.
func (b *board) since(w *work, digest *flow.Turn, before int) []*flow.Turn {
	standing := w.standing()
	return slices.DeleteFunc(b.items(w, b.covered(digest), before), func(t *flow.Turn) bool { return t == standing })
}

// covered is the last round that a summary covers.
func (k *sorted) covered(digest *flow.Turn) int {
	if digest == nil {
		return 0
	}
	return digest.Round - 1
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

// history writes what a proposal or a refinement reads of the rounds before: the agent's own history, that of all, or
// nothing, by Config.FullHistory. Of each it is the summary and what it does not cover, so that no round is lost.
func (b *board) history(text *strings.Builder, w *work, what reading) {
	switch {
	case what == readNothing:
	case b.whole():
		b.all(text, w, b.round, what)
	case b.config.FullHistory == nil:
		digest := w.digest(b.round)
		if b.quoteSummary(text, w, digest, what); what != readAll {
			return
		}
		for _, t := range b.since(w, digest, b.round) {
			b.quoteOwn(text, t, 0)
		}
	default:
	}
}

// whole reports whether agents read all that was said.
func (b *board) whole() bool { return b.config.FullHistory != nil && *b.config.FullHistory }

// all writes all that was said in the rounds before, with the summaries up to a round, or no more than these and what
// stands, or a part of both. What stands of one agent is left out: it is shown by itself.
func (b *board) all(text *strings.Builder, but *work, summaries int, what reading) {
	if what == readNothing {
		return
	}
	for i := range b.agents {
		w := &b.agents[i]
		digest := w.digest(summaries)
		b.quoteSummary(text, w, digest, what)
		if what == readAll {
			for _, t := range b.since(w, digest, b.round) {
				b.quote(text, t, 0)
			}
		}
		if t := w.standing(); w != but && t != nil && t.Round < b.round {
			b.quote(text, t, what.halves())
		}
	}
	if what == readAll {
		b.aimless(text, b.round)
	}
}

// aimless writes what was aimed at nobody before a round.
func (b *board) aimless(out *strings.Builder, before int) {
	loose := slices.DeleteFunc(slices.Clone(b.loose), func(t *flow.Turn) bool { return t.Round >= before })
	slices.SortStableFunc(loose, byPlace)
	for _, t := range loose {
		b.quote(out, t, 0)
	}
}

// quoteSummary writes a summary, a part of it, or nothing.
func (b *board) quoteSummary(text *strings.Builder, w *work, digest *flow.Turn, what reading) {
	if digest == nil || what == readNothing {
		return
	}
	b.quoteAs(text, fmt.Sprintf("%s: summary of rounds 1 to %d", w.ID, b.covered(digest)), cut(w.shown(digest), what.halves()))
}

// shown is a summary as it is read: not longer than its agent's settings say, and marked if it was cut off.
func (w *work) shown(digest *flow.Turn) string {
	text := strings.TrimSpace(digest.Text)
	if digest.Cut {
		text += cutMark
	}
	return shorten(text, w.summaries.MaxLength)
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

// digests returns the summaries of this round that are still missing: those that are due, if they are made now, and those
// that a call waits for whose prompt did not fit. Which are due depends on earlier rounds and on the number of rounds
// alone, so that it is the same however often it is asked.
func (b *board) digests(now bool, wanted []*work) []flow.Call {
	if b.Late() {
		return nil
	}
	var calls []flow.Call
	for i := range b.agents {
		w := &b.agents[i]
		if a := b.summarizing(w); now && b.missing(a.id) && b.covered(w.digest(b.round)) < b.round-1 {
			if former, items, due := b.due(w); due {
				calls = append(calls, b.summary(w, a, former, items))
				continue
			}
		}
		if slices.Contains(wanted, w) {
			former := w.digest(b.round)
			calls = append(calls, b.summary(w, b.condensing(w), former, b.items(w, b.covered(former), b.round)))
		}
	}
	return calls
}

// summarizing is the summary of an agent's history that pays, and condensing the one that a prompt needs to fit.
func (b *board) summarizing(w *work) attempt {
	return b.attempt(b.id("summarize", w.ID), halved("of a part of each text"))
}

func (b *board) condensing(w *work) attempt {
	return b.attempt(b.id("condense", w.ID), halved("of a part of each text"))
}

// summary asks for the summary of a former one and what came after it.
func (b *board) summary(w *work, a attempt, former *flow.Turn, items []*flow.Turn) flow.Call {
	call := b.call(w, a.id, KindDigest)
	call.Slot, call.System, call.OnFail = b.slot(slotDigest, w.seat, 0), b.system("summarizer."+w.ID), a.onFail(call.OnFail)
	what := readAll
	if a.halves > 0 {
		what = readParts
	}
	call.Last = func(r *flow.Record) string {
		var text strings.Builder
		b.quoteSummary(&text, w, former, what)
		for _, t := range items {
			b.quoteOwn(&text, t, a.halves)
		}
		return text.String() + r.Text("ask.summarize."+w.ID) + a.note("summary")
	}
	return call
}

// slack bounds, in characters, what markers and labels add to a quotation.
const slack = 120

// due reports whether an agent's history is to be summarised in this round, and what of it: the summary
// before, and the items after that.
//
// It is if the characters that this saves are expected to be more than those that it takes. The summary takes
// its prompt. Each reader saves the difference between what it would have read and the longest summary. The
// readers are, for every round that is expected to come, the refinements and fresh proposals that read the history;
// and the synthesis, if it reads the rounds. As each summary pays for itself against making no further one, all of
// them together never cost more than none, if all expected rounds come.
func (b *board) due(w *work) (former *flow.Turn, items []*flow.Turn, due bool) {
	if w.summaries.Off || !w.active || w.standing() == nil || b.round < 2 {
		return nil, nil, false
	}
	former = w.digest(b.round - 1)
	items = b.items(w, b.covered(former), b.round)
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

// readers is how many calls are expected to read an agent's history from this round on. If the judge may end the rounds
// early, as many are expected to come as there have been: who stops to pay for the whole history when it has paid for
// it as often as a summary costs is never far off, whenever the end comes.
func (b *board) readers() int {
	rounds := b.Record.Settings().Rounds - b.round + 1
	if b.config.Termination.Kind != TerminationFixed {
		rounds = min(rounds, b.round-1)
	}
	n := b.readings(rounds)
	if b.config.Synthesis == SynthesisJudge || b.config.Synthesis == SynthesisRegistered {
		n++
	}
	return n
}

// readings is how often agents read the history of one of them in so many rounds from this one on. The critiques of this
// round read its summaries only if these are made before.
func (b *board) readings(rounds int) int {
	n, critiques := rounds, rounds-1
	if b.early() {
		n, critiques = 2*rounds, rounds
	}
	switch {
	case b.whole():
		return len(b.Active()) * (n + critiques*b.config.degree())
	case b.config.FullHistory == nil:
		return n
	default:
		return 0
	}
}

// digestCalls returns the summaries that the proposals of this round read.
func digestCalls(r *flow.Record) []flow.Call {
	b := read(r)
	if !b.early() {
		return nil
	}
	return b.digests(true, nil)
}

func contextsReady(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	b := read(r)
	return TriggerContextsReady, flow.Exit{Calls: len(proposeCalls(r)), Warnings: b.unsummarized()}, true
}

// unsummarized warns, once, of the summaries of this round that could not be made, that were made of less than they should
// have been, and that were cut off.
func (b *board) unsummarized() []flow.Warning {
	var warnings []flow.Warning
	warn := func(w flow.Warning) {
		if !slices.ContainsFunc(b.Warnings, func(known flow.Warning) bool { return known.Call == w.Call && known.Kind == w.Kind }) {
			warnings = append(warnings, w)
		}
	}
	for i := range b.agents {
		w := &b.agents[i]
		for _, a := range []attempt{b.summarizing(w), b.condensing(w)} {
			switch {
			case b.Failed(a.id):
				warn(flow.Warning{
					Kind: WarnSummary, Call: a.id, By: w.ID,
					Evidence: fmt.Sprintf("the summary of the history of %s has failed for good: the history is sent in full, if it fits", w.Name),
				})
			case b.Done(a.id) && a.short > 0:
				warn(a.smaller(w.ID))
			}
		}
		for _, t := range w.digests {
			if t.Round == b.round && t.Cut {
				warn(flow.Warning{
					Kind: WarnCut, Call: t.Call, By: w.ID,
					Evidence: fmt.Sprintf("the summary of the history of %s has ended at its limit of output tokens", w.Name),
				})
			}
		}
	}
	return warnings
}
