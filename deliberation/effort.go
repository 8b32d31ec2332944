package deliberation

import (
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// effort is what a call has taken: its replies, and the tools that they have asked for.
type effort struct {
	usage     provider.Usage
	cost      flow.Money
	unsettled flow.Unsettled
	took      time.Duration
	at        time.Time     // when its result came
	waited    time.Duration // for the tools of the latest reply, which are used at the same time
}

// effort returns what there is of a call.
func (k *sorted) effort(call string) *effort {
	e := k.efforts[call]
	if e == nil {
		e = new(effort)
		k.efforts[call] = e
	}
	return e
}

// effortOf returns what the call of a turn has taken.
func (k *sorted) effortOf(t *flow.Turn) effort {
	if e := k.efforts[t.Call]; e != nil {
		return *e
	}
	return effort{usage: t.Usage, cost: t.Cost, unsettled: t.Unsettled(), took: t.Took}
}

// replied counts a reply, which ends the wait for the tools before it.
func (e *effort) replied(s *flow.Spend) {
	e.usage, e.cost, e.unsettled = e.usage.Add(s.Usage), e.cost+s.Cost, e.unsettled.Plus(s.Unsettled())
	e.took, e.waited = e.took+e.waited+s.Took, 0
}

// asks counts a reply that asks for tools.
func (k *sorted) asks(t *flow.ToolCalls) {
	e := k.effort(t.Call)
	e.replied(&t.Spend)
	for i := range t.Uses {
		if t.Uses[i].Denied == "" {
			k.uses[t.Uses[i].Use] = e
		}
	}
}

// used counts the use of a tool.
func (k *sorted) used(t *flow.ToolResult) {
	if e := k.uses[t.Call]; e != nil {
		e.usage, e.cost, e.waited = e.usage.Add(t.Usage), e.cost+t.Cost, max(e.waited, t.Took)
		if !t.Unknown { // else it may be made again
			delete(k.uses, t.Call)
		}
	}
}
