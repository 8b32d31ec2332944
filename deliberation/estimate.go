package deliberation

import (
	"cmp"
	"slices"

	"github.com/agonist-dev/debate/flow"
)

// walk goes through a deliberation in which nobody fails, and counts its calls. What is said is only a length: texts
// are empty, and sizes holds how many bytes they can have where somebody reads them.
type walk struct {
	*flow.Estimator

	d     *Deliberation
	sizes map[*flow.Turn]int
}

// estimate counts the calls of a deliberation of so many rounds: every reply as long as it may get, histories read whole,
// and every summary made that could be worth it. Answers of persons and uses of tools come on top.
func estimate(e *flow.Estimator, rounds int) error {
	w := &walk{e, of(e.Record()), make(map[*flow.Turn]int)}
	w.clarify()
	for n := 1; n <= rounds; n++ {
		if err := e.Round(n); err != nil {
			return err
		}
		if err := w.round(n); err != nil {
			return err
		}
		if n == 1 {
			e.First(w.end)
		}
	}
	w.end()
	return nil
}

// clarify counts the questions of the agents, which all system prompts hold from then on.
func (w *walk) clarify() {
	c := w.d.config.Clarification
	if !c.On {
		return
	}
	iterations := c.Iterations
	if w.d.Record.Settings().Unattended {
		iterations = 1 // nobody answers, and nobody asks twice
	}
	for i := 1; i <= iterations; i++ {
		b := &board{Deliberation: w.d, asking: i}
		var calls []*flow.Call
		for k := range b.agents {
			if a := &b.agents[k]; !a.Person {
				calls = append(calls, b.question(i, a))
			}
		}
		w.Calls(calls)
		for _, call := range calls {
			w.Added(call)
		}
	}
}

// round counts the calls of a round, phase by phase.
func (w *walk) round(n int) error {
	b, r := readAt(w.d.Record, n), w.d.Record
	w.summaries(b)
	for _, phase := range []struct {
		calls func(*flow.Record) []*flow.Call
		reads func(*board, *flow.Call) int
	}{{proposeCalls, w.proposing}, {critiqueCalls, w.critiquing}, {refineCalls, w.refining}} {
		calls := phase.calls(r)
		for i := range calls {
			w.Reading(phase.reads(b, calls[i]), calls[i:i+1])
		}
		for _, call := range calls { // which nobody reads before
			if err := w.said(call); err != nil {
				return err
			}
		}
	}
	w.Reading(w.standing(b, ""), evaluateCalls(r))
	return nil
}

// said lets a call's reply be read.
func (w *walk) said(call *flow.Call) error {
	t := &flow.Turn{Kind: call.Kind, Speaker: call.By, Target: call.Target, Round: call.Round, Slot: call.Slot}
	w.sizes[t] = w.Length(call) + slack
	return w.d.Fold(&flow.Event{Body: t})
}

// summaries counts those that could be made in a round.
func (w *walk) summaries(b *board) {
	if b.readings(1) == 0 {
		return
	}
	for i := range b.agents {
		a := &b.agents[i]
		items := b.items(a, 0, b.round)
		if size := w.size(items); !a.summaries.Off && !a.Person && size > a.summaries.Threshold {
			w.Reading(size, []*flow.Call{b.summary(a, b.summarizing(a), nil, items)})
		}
	}
}

func (w *walk) size(all []*flow.Turn) int {
	n := 0
	for _, t := range all {
		n += w.sizes[t]
	}
	return n
}

// proposing is what a proposal reads: the history, and what stands.
func (w *walk) proposing(b *board, call *flow.Call) int {
	return w.history(b, call) + w.sizes[b.seats[call.By].standing()]
}

// history is what an agent reads of the rounds before.
func (w *walk) history(b *board, call *flow.Call) int {
	n := 0
	for i := range b.agents {
		a := &b.agents[i]
		switch own := a.ID == call.By; {
		case b.config.FullHistory == nil && own:
			n += w.size(b.items(a, 0, b.round))
		case b.whole():
			n += w.size(b.items(a, 0, b.round))
			if !own {
				n += w.sizes[a.standing()]
			}
		}
	}
	return n
}

func (w *walk) critiquing(b *board, call *flow.Call) int {
	n := w.sizes[b.seats[call.Target].standing()]
	if b.whole() {
		n += w.history(b, call) + w.sizes[b.seats[call.By].standing()]
	}
	return n
}

func (w *walk) refining(b *board, call *flow.Call) int {
	a := b.seats[call.By]
	n := w.history(b, call) + w.sizes[a.standing()] + w.size(b.heard(a))
	if b.shares() && !b.whole() { // with the whole history they are counted there
		n += w.standing(b, a.ID)
	}
	return n
}

// standing is what all proposals take that stand, but for somebody's own.
func (w *walk) standing(b *board, but string) int {
	n := 0
	for _, a := range b.finalists(0) {
		if a.ID != but {
			n += w.sizes[a.standing()]
		}
	}
	return n
}

// end counts the calls of the solution.
func (w *walk) end() {
	b := read(w.d.Record)
	switch b.config.Synthesis {
	case SynthesisVoting:
		for i, name := range b.voters() {
			w.Reading(w.standing(b, name), []*flow.Call{b.vote(name, i)})
		}
		size := func(a *work) int { return w.sizes[a.standing()] }
		if a := b.dearest(size); a != nil {
			w.Reading(size(a), []*flow.Call{b.writing(a)})
		}
	case SynthesisMerge:
		w.merges(b)
	case SynthesisRegistered:
		w.Calls(b.registered())
	default:
		all := 0
		for _, size := range w.sizes {
			all += size
		}
		w.Reading(all, b.synthesis("ask.synthesis", b.material))
	}
}

// dearest returns the agent to whom it costs most to write its proposal out, which has so many bytes; nil: nobody has one.
func (b *board) dearest(size func(*work) int) *work {
	price := func(a *work) flow.Money {
		most := flow.Money(0)
		for _, name := range append([]string{a.Model}, a.Fallbacks...) {
			m, _ := b.Model(name)
			most = max(most, m.Bound(size(a), cmp.Or(a.MaxTokens, b.config.MaxTokens)))
		}
		return most
	}
	all := b.finalists(0)
	if len(all) == 0 {
		return nil
	}
	return slices.MaxFunc(all, func(x, y *work) int {
		return cmp.Or(cmp.Compare(price(x), price(y)), cmp.Compare(size(x), size(y)))
	})
}

// merges counts the merges in pairs, and the writing out of what is left.
func (w *walk) merges(b *board) {
	var drafts []draft
	for _, a := range b.finalists(0) {
		drafts = append(drafts, draft{longer: w.sizes[a.standing()]})
	}
	w.Calls(b.mergingAll(drafts, func(call *flow.Call) int { return w.Length(call) + slack }))
}
