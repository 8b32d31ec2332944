package arbiter

import (
	"cmp"
	"slices"

	"github.com/agonist-dev/debate/flow"
)

// estimate counts the calls of work of so many iterations: a decision before the first execution and one after each, and
// each execution by the agent to whom it costs most. Uses of tools, and the parts of replies that
// are continued, come on top.
func estimate(e *flow.Estimator, rounds int) error {
	w := of(e.Record())
	length := 0 // of a reply, in bytes
	decide := func(n int) {
		decision := w.decision()
		e.Reading(w.reading(n, length), []*flow.Call{decision})
	}
	decide(0)
	for n := 1; n <= rounds; n++ {
		if err := e.Round(n); err != nil {
			return err
		}
		a := w.dearest()
		call := w.call(&Execution{Call: executionID(n, a.Name), Agent: a.Name, Round: n, Step: noStep}, 0)
		e.Reading(w.reading(0, length), []*flow.Call{call})
		length = e.Length(call)
		e.Said(call)
		if n == 1 {
			e.First(func() { decide(n) })
		}
		decide(n)
	}
	return nil
}

// reading is how many bytes longer an instruction can become by what so many executions have reported: the plan, the table, and the
// last outputs, each of this length. Plans as long as they may be are far beyond what models report, so it is half of a reply, and at
// most what a plan of twenty steps takes.
func (w *Work) reading(executions, length int) int {
	const plan, row = 20 * mostRow, mostRow + mostRow/2
	at := min(executions, w.config.Parallel)
	return min(plan, length/2) + min(executions, mostRows)*row + at*min(length, shown(at))
}

// dearest returns the agent to whose model a reply costs most.
func (w *Work) dearest() *Agent {
	price := func(a *Agent) flow.Money {
		most := flow.Money(0)
		for _, name := range append([]string{a.Model}, a.Fallbacks...) {
			m, _ := w.Model(name)
			most = max(most, m.Bound(mostShown, cmp.Or(a.MaxTokens, w.config.MaxTokens)))
		}
		return most
	}
	i := 0
	for k := range w.config.Agents {
		if price(&w.config.Agents[k]) > price(&w.config.Agents[i]) {
			i = k
		}
	}
	return &slices.Clone(w.config.Agents)[i]
}
