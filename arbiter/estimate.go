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
	read := w.reading()
	e.Reading(read, []flow.Call{w.decision()})
	for n := 1; n <= rounds; n++ {
		if err := e.Round(n); err != nil {
			return err
		}
		a := w.dearest()
		call := w.call(&Execution{Call: executionID(n, a.Name), Agent: a.Name, Round: n, Step: noStep}, 0)
		e.Reading(read, []flow.Call{call})
		e.Said(&call)
		decision := w.decision()
		e.Reading(read, []flow.Call{decision})
		if n == 1 {
			e.First(func() {})
		}
	}
	return nil
}

// reading is how many bytes longer an instruction can become by what the work has reported: the plan, the table, the last
// output. Plans as long as they may be are far beyond what models report, so it is what a plan of twenty steps takes.
func (w *Work) reading() int {
	const plan = 20 * mostRow
	n := w.config.Parallel
	return plan + mostRows*mostRow/2 + n*shown(n)
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
