package deliberation

import (
	"cmp"
	"slices"
	"strings"

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
// and every summary made that could be worth it. Answers of persons and uses of tools come on top. The walk marks no
// first round ([flow.Estimator.First]): a limit that is below the worst case of one round is not refused.
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
	if w.d.Record.Terms().Unattended != nil {
		iterations = 1 // nobody answers, and nobody asks twice
	}
	for i := 1; i <= iterations; i++ {
		b := &board{Deliberation: w.d, asking: i}
		var calls []flow.Call
		for k := range b.agents {
			calls = append(calls, b.question(i, &b.agents[k]))
		}
		w.Calls(calls)
		for k := range calls {
			w.Added(&calls[k])
		}
	}
}

// round counts the calls of a round, phase by phase.
func (w *walk) round(n int) error {
	b, r := readAt(w.d.Record, n), w.d.Record
	w.summaries(b)
	for _, phase := range []struct {
		calls func(*flow.Record) []flow.Call
		reads func(*board, *flow.Call) int
	}{{proposeCalls, w.proposing}, {critiqueCalls, w.critiquing}, {refineCalls, w.refining}} {
		calls := phase.calls(r)
		for i := range calls {
			w.Reading(phase.reads(b, &calls[i]), calls[i:i+1])
		}
		for i := range calls { // which nobody reads before
			if err := w.said(&calls[i]); err != nil {
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
	for i := range b.agents {
		a := &b.agents[i]
		items := b.items(a, 0, b.round-b.config.lag())
		if size := w.size(items); !a.summaries.Off && size > a.summaries.Threshold {
			w.Reading(size, []flow.Call{b.summary(a, nil, items)})
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
	return w.size(b.items(b.seats[call.By], 0, b.round)) + w.sizes[b.seats[call.By].standing()]
}

func (w *walk) critiquing(b *board, call *flow.Call) int {
	return w.sizes[b.seats[call.Target].standing()]
}

func (w *walk) refining(b *board, call *flow.Call) int {
	a := b.seats[call.By]
	return w.size(b.items(a, 0, b.round)) + w.sizes[a.standing()] + w.size(b.heard(a))
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
			w.Reading(w.standing(b, name), []flow.Call{b.vote(name, i)})
		}
		if a := w.dearest(b); a != nil {
			w.Reading(w.sizes[a.standing()], []flow.Call{b.writing(a)})
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

// dearest returns the agent to whom it costs most to write its proposal out; nil: nobody has one.
func (w *walk) dearest(b *board) *work {
	price := func(a *work) flow.Money {
		most := flow.Money(0)
		for _, name := range append([]string{a.Model}, a.Fallbacks...) {
			m, _ := b.Model(name)
			most = max(most, m.Bound(w.sizes[a.standing()], cmp.Or(a.MaxTokens, b.config.MaxTokens)))
		}
		return most
	}
	all := b.finalists(0)
	if len(all) == 0 {
		return nil
	}
	return slices.MaxFunc(all, func(x, y *work) int {
		return cmp.Or(cmp.Compare(price(x), price(y)), cmp.Compare(w.sizes[x.standing()], w.sizes[y.standing()]))
	})
}

// merges counts the merges in pairs, and the writing out of what is left.
func (w *walk) merges(b *board) {
	var drafts []int // their sizes
	for _, a := range b.finalists(0) {
		drafts = append(drafts, w.sizes[a.standing()])
	}
	for level := 1; len(drafts) > 1; level++ {
		var next []int
		for pair := range slices.Chunk(drafts, 2) {
			if len(pair) == 1 {
				next = append(next, pair[0])
				continue
			}
			if _, call := b.merge(draft{}, draft{}, level, len(next)+1); call != nil {
				w.Reading(pair[0]+pair[1], []flow.Call{*call})
				next = append(next, w.Length(call)+slack)
			}
		}
		if len(next) == len(drafts) || len(next) == 0 {
			break
		}
		drafts = next
	}
	if len(drafts) > 0 {
		w.Reading(drafts[0], b.synthesis("ask.written", func(*strings.Builder, int) {}))
	}
}
