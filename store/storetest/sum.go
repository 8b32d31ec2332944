package storetest

import (
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

func sumChecks() []check {
	return []check{
		{"sum/what was spent and may be spent", sumOfAll},
		{"sum/of what a filter selects", sumFiltered},
	}
}

// sums requires a sum of every handle, by its own way and by its list.
func (x *exam) sums(when string, handles []store.Store, filter store.Filter, want store.Sum) {
	x.Helper()
	for _, s := range handles {
		for way, sum := range map[string]func() (store.Sum, error){
			"SumOf":   func() (store.Sum, error) { return store.SumOf(x.Context(), s, filter) },
			"SumList": func() (store.Sum, error) { return store.SumList(x.Context(), s, filter) },
		} {
			got, err := sum()
			if err != nil {
				x.Fatalf("%s: %s failed: %v", when, way, err)
			}
			if got != want {
				x.Errorf("%s: %s yields %+v, want %+v", when, way, got, want)
			}
		}
	}
}

// limited returns the beginning of a conversation of a tenant, with a hard limit.
func limited(whose string, hard flow.Money) flow.Event {
	return started(flow.Settings{Labels: map[string]string{tenant: whose}, Budget: &flow.Budget{Hard: hard}})
}

// spent returns a change of state, and what was spent by then.
func spent(to flow.State, cost flow.Money, u flow.Unsettled) flow.Event {
	return flow.Event{Body: &flow.Transition{To: to, Spent: cost, Unsettled: u}}
}

func sumOfAll(x *exam) {
	handles := x.handles(2)
	s, none := handles[0], flow.Unsettled{}
	all := func(when string, want store.Sum) {
		x.Helper()
		x.sums(when, handles, store.Filter{}, want)
	}
	all("an empty storage", store.Sum{})
	const cost flow.Money = 123_456_789_012 // all its digits count
	x.append(s, "a", 0, "w", after(0, limited(blue, 5*flow.USD), spent(arguing, 0, none)))
	all("one has begun", store.Sum{Count: 1, Left: 5 * flow.USD})
	x.append(s, "a", 2, "w", after(2, spent(flow.StateCompleting, cost, flow.Unsettled{AtMost: flow.USD, BrokenOff: 2, Unreported: 1})))
	u := flow.Unsettled{AtMost: flow.USD, BrokenOff: 2, Unreported: 1}
	all("it has spent", store.Sum{Count: 1, Spent: cost, Unsettled: u, Left: 4*flow.USD - cost})
	more := flow.Event{Body: &flow.Amendment{Budget: &flow.Budget{Hard: 7 * flow.USD}}}
	x.append(handles[1], "a", 3, "w", after(3, more, said("text")))
	all("its limit is raised", store.Sum{Count: 1, Spent: cost, Unsettled: u, Left: 6*flow.USD - cost})
	other := flow.Event{Body: &flow.Amendment{Summarizer: new("a/b")}}
	x.append(s, "a", 5, "w", after(5, other))
	all("something else is amended", store.Sum{Count: 1, Spent: cost, Unsettled: u, Left: 6*flow.USD - cost})
	x.append(s, "a", 6, "w", after(6, flow.Event{Body: &flow.Amendment{Budget: &flow.Budget{HardCalls: 3}}}))
	all("its limit is removed", store.Sum{Count: 1, Spent: cost, Unsettled: u, Unlimited: 1})
	x.append(s, "a", 7, "w", after(7, spent(flow.StateCompleted, 2*cost, none)))
	all("it is over", store.Sum{Count: 1, Spent: 2 * cost})

	fork := limited(blue, flow.USD)
	fork.Body.(*flow.Start).Parent = &flow.Parent{ID: "a", Spent: flow.Account{ //nolint:forcetypeassert // started makes one
		Cost: cost, Unsettled: flow.Unsettled{AtMost: flow.USD / 4, BrokenOff: 3, Unreported: 1},
	}}
	x.append(s, "b", 0, "w", after(0, fork, spent(arguing, cost+7, flow.Unsettled{AtMost: flow.USD / 2, BrokenOff: 1, Unreported: 2})))
	forked := store.Sum{
		Count: 2, Spent: 2*cost + 7, Unsettled: flow.Unsettled{AtMost: flow.USD / 4, Unreported: 1}, Left: flow.USD/2 - cost - 7,
	}
	all("a fork counts without what it has copied", forked)
	x.append(s, "c", 0, "w", after(0, limited(blue, flow.USD), more, spent(flow.StateCanceled, 0, none)))
	forked.Count++
	all("one was canceled", forked)
	x.append(s, "d", 0, "w", after(0, limited(blue, flow.USD), more))
	forked.Count, forked.Left = forked.Count+1, forked.Left+7*flow.USD
	all("one begins with an amendment", forked)
	x.append(s, "e", 0, "w", after(0, limited(blue, flow.USD), spent(flow.StateError, 3*flow.USD, none)))
	forked.Count, forked.Spent = forked.Count+1, forked.Spent+3*flow.USD
	all("one has passed its limit", forked)
	x.remove(s, "e")
	forked.Count, forked.Spent = forked.Count-1, forked.Spent-3*flow.USD
	all("it is deleted", forked)
	x.append(s, "f", 0, "w", after(0, fork, spent(arguing, 0, none)))
	forked.Count, forked.Left = forked.Count+1, forked.Left+3*flow.USD/4-cost
	all("a fork begins with more than was spent at its last change of state", forked)
	x.append(s, "g", 0, "w", after(0, fork, spent(flow.StateCanceled, cost/2, none)))
	forked.Count++
	all("one says that it has cost less than it has copied", forked)
}

func sumFiltered(x *exam) {
	handles := x.handles(2)
	s, none := handles[0], flow.Unsettled{}
	x.append(s, "a", 0, "w", after(0, limited(blue, 9*flow.USD), spent(arguing, flow.USD, none), said("needle")))
	x.append(s, "b", 0, "w", after(0, limited("red", 9*flow.USD), spent(flow.StateCompleted, 2*flow.USD, none)))
	late := after(0, limited(blue, 9*flow.USD), spent(flow.StatePaused, 4*flow.USD, none))
	late[0].At = moment(100)
	x.append(s, "c", 0, "w", late)
	x.append(s, "d", 0, "w", some(0, 1, "d"))
	x.lease(s, "a", "me", time.Hour)
	sum := func(when string, filter store.Filter, want store.Sum) {
		x.Helper()
		x.sums(when, handles, filter, want)
	}
	tenantOf := func(name string) map[string]string { return map[string]string{tenant: name} }
	a := store.Sum{Count: 1, Spent: flow.USD, Left: 8 * flow.USD}
	c := store.Sum{Count: 1, Spent: 4 * flow.USD, Left: 5 * flow.USD}
	sum("of a tenant", store.Filter{Labels: tenantOf(blue)}, store.Sum{Count: 2, Spent: 5 * flow.USD, Left: 13 * flow.USD})
	sum("of another", store.Filter{Labels: tenantOf("red")}, store.Sum{Count: 1, Spent: 2 * flow.USD})
	sum("of none", store.Filter{Labels: tenantOf("green")}, store.Sum{})
	sum("of a state", store.Filter{States: []flow.State{flow.StatePaused, "other"}}, c)
	sum("of a time", store.Filter{Labels: tenantOf(blue), From: moment(50)}, c)
	sum("of a time before", store.Filter{Labels: tenantOf(blue), Until: moment(50)}, a)
	sum("of those at work", store.Filter{Working: true}, a)
	sum("of those at rest", store.Filter{Idle: true, Labels: tenantOf(blue)}, c)
	sum("with a text", store.Filter{Text: "Needle"}, a)
	sum("after an id", store.Filter{After: "a", Labels: tenantOf(blue)}, c)
	sum("of so many", store.Filter{Limit: 1}, a)
	each := store.Sum{Count: 3, Spent: 3 * flow.USD, Left: 8 * flow.USD, Unlimited: 1}
	sum("of so many of each tenant", store.Filter{Per: tenant, Each: 1}, each)
	sum("without a beginning", store.Filter{After: "c"}, store.Sum{Count: 1, Unlimited: 1})
}
