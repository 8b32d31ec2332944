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

// since returns what belongs to the history of an agent before a round, after the rounds that a summary covers. What stands now is left
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

// history writes what a prompt for an agent reads of the rounds before: its own history, that of all, or nothing, by
// Config.FullHistory. Its own summary stands in the place of the rounds that it covers, and what was said after them is read in full.
// What stands of one agent is left out: it is shown by itself.
func (b *board) history(text *strings.Builder, w, but *work, what reading) {
	if what == readNothing || !b.config.readsHistory() {
		return
	}
	digest := w.digest(b.round)
	if b.quoteSummary(text, w, digest, what); what != readAll {
		return
	}
	if !b.whole() {
		for _, t := range b.since(w, digest, b.round) {
			b.quoteOwn(text, t, 0)
		}
		return
	}
	for i := range b.agents {
		v := &b.agents[i]
		for _, t := range b.since(v, digest, b.round) {
			b.quote(text, t)
		}
		if t := v.standing(); v != but && t != nil && t.Round < b.round && t.Round > b.covered(digest) {
			b.quote(text, t)
		}
	}
	b.aimless(text, b.round)
}

// whole reports whether agents read all that was said.
func (b *board) whole() bool { return b.config.FullHistory != nil && *b.config.FullHistory }

// aimless writes what was aimed at nobody before a round. It is in no agent's history, so no summary stands in its place.
func (b *board) aimless(out *strings.Builder, before int) {
	loose := slices.DeleteFunc(slices.Clone(b.loose), func(t *flow.Turn) bool { return t.Round >= before })
	slices.SortStableFunc(loose, byPlace)
	for _, t := range loose {
		b.quote(out, t)
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

// early reports whether summaries are made before the proposals, because these read them too, or the critiques. Otherwise they
// are made while the critiques are, and nothing waits for them.
func (b *board) early() bool { return b.config.Proposals == ProposalsFresh || b.whole() }

// digests returns the summaries of this round that are still missing: those that are due, if they are made now, and those
// that a call waits for whose prompt did not fit. Which are due depends on earlier rounds and on the number of rounds
// alone, so that it is the same however often it is asked.
func (b *board) digests(now bool, wanted []*work) []*flow.Call {
	if b.Late() {
		return nil
	}
	var calls []*flow.Call
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
func (b *board) summary(w *work, a attempt, former *flow.Turn, items []*flow.Turn) *flow.Call {
	call := b.call(w, a.id, KindDigest)
	call.Slot, call.System, call.OnFail = b.slot(slotDigest, w.seat, 0), b.system("summarizer."+w.ID), a.onFail(call.OnFail)
	if call.Performer == flow.ByPerson { // who is asked for no summary; see summarises
		call.Performer, call.Model, call.Person = flow.ByModel, w.StandIn, nil
	}
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
// before, and the items after that. A person reads it whole.
//
// It is if the characters that this saves are expected to be more than those that it takes. The summary takes
// its prompt. Each reader saves the difference between what it would have read and the longest summary. The
// readers are, for every round that is expected to come, the agent's refinement, and its fresh proposal and its critiques if they read
// the history; and the synthesis, if it reads the rounds. As each summary pays for itself against making no further one, all of
// them together never cost more than none, if all expected rounds come.
func (b *board) due(w *work) (former *flow.Turn, items []*flow.Turn, due bool) {
	if w.summaries.Off || w.Person || !w.active || w.standing() == nil || b.round < 2 {
		return nil, nil, false
	}
	former = w.digest(b.round - 1)
	count, size := w.history(b.covered(former), b.round)
	if count == 0 {
		return nil, nil, false
	}
	shown := b.besides(w, former) // to its readers by itself: nothing is saved of it
	if former != nil {
		size += characters(w.shown(former))
	}
	if size <= w.summaries.Threshold {
		return nil, nil, false
	}
	takes := size + (count+2)*slack + characters(b.system("summarizer."+w.ID)) + characters(b.Text("ask.summarize."+w.ID))
	longest := w.summaries.MaxLength + slack
	saves := b.readings(b.expected()) * (size - shown + b.others(w, former) - longest)
	if b.config.Synthesis == SynthesisJudge || b.config.Synthesis == SynthesisRegistered {
		saves += size - shown - longest
	}
	if saves <= takes {
		return nil, nil, false
	}
	return former, b.items(w, b.covered(former), b.round), true
}

// history returns how many texts of the rounds after one and before another an agent's history has, and how many characters these have.
// Nothing is read for it: in a crowd this is asked after each summary, for all agents.
func (w *work) history(after, before int) (texts, length int) {
	for n, past := range w.past {
		if n > max(0, after) && n < before {
			texts, length = texts+len(past), length+w.lengths[n]
		}
	}
	return texts, length
}

// besides returns the characters of what stands now of an agent, if its history since a summary has it.
func (b *board) besides(w *work, digest *flow.Turn) int {
	if t := w.standing(); t != nil && b.stood(t) > b.covered(digest) && b.stood(t) < b.round {
		return characters(t.Text)
	}
	return 0
}

// others returns how many characters of the others a summary takes the place of, beside those of the agent itself: where all read the
// whole history, what was said since its former summary.
func (b *board) others(w *work, former *flow.Turn) (n int) {
	if !b.whole() {
		return 0
	}
	for i := range b.agents {
		if v := &b.agents[i]; v != w {
			_, length := v.history(b.covered(former), b.round)
			n += length - b.besides(v, former)
		}
	}
	return n
}

// expected returns how many rounds are expected to come, this one included. If the judge may end them early, these are as many as there
// have been: who stops to pay for the whole history when it has paid for it as often as a summary costs is never far off, whenever the
// end comes.
func (b *board) expected() int {
	rounds := b.Record.Settings().Rounds - b.round + 1
	if b.config.Termination.Kind != TerminationFixed {
		rounds = min(rounds, b.round-1)
	}
	return rounds
}

// readings is how often an agent reads its history, with its summary, in so many rounds from this one on.
func (b *board) readings(rounds int) int {
	n := rounds
	if b.config.Proposals == ProposalsFresh {
		n += rounds
	}
	switch {
	case b.whole():
		return n + rounds*b.config.degree()
	case b.config.FullHistory == nil:
		return n
	default:
		return 0
	}
}

// digestCalls returns the summaries that the proposals of this round read.
func digestCalls(r *flow.Record) []*flow.Call {
	b := read(r)
	if !b.early() {
		return nil
	}
	return b.digests(true, nil)
}

func contextsReady(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	b := read(r)
	return triggerContextsReady, flow.Exit{Calls: len(proposeCalls(r)), Warnings: b.unsummarized()}, true
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
