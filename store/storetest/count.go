package storetest

import (
	"slices"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

func countChecks() []check {
	return []check{
		{"count/unfinished conversations by state", countAll},
		{"count/of what a filter selects", countFiltered},
	}
}

// counts requires the counts of every handle, by its own way and by its list. Oldest may be more, by the time that a check may take.
func (x *exam) counts(when string, handles []store.Store, filter store.Filter, want ...store.StateCount) {
	x.Helper()
	for _, s := range handles {
		for way, count := range map[string]func() ([]store.StateCount, error){
			"CountStates": func() ([]store.StateCount, error) { return store.CountStates(x.Context(), s, filter) },
			"CountList":   func() ([]store.StateCount, error) { return store.CountList(x.Context(), s, filter) },
		} {
			got, err := count()
			if err != nil {
				x.Fatalf("%s: %s failed: %v", when, way, err)
			}
			for i := range min(len(got), len(want)) {
				if more := got[i].Oldest - want[i].Oldest; more > -rounding && more < rounding+2*x.patience {
					got[i].Oldest = want[i].Oldest
				}
			}
			if !slices.Equal(got, want) {
				x.Errorf("%s: %s yields %+v, want %+v", when, way, got, want)
			}
		}
	}
}

// aged returns the log of a conversation of a tenant that has come to a state a time ago, by the clock of the store.
func (x *exam) aged(s store.Store, whose string, state flow.State, ago time.Duration, texts ...string) []flow.Event {
	x.Helper()
	at := time.Now()
	if _, ok := s.(store.Clock); ok {
		at = x.time(s)
	}
	log := debateOf("topic", map[string]string{tenant: whose}, state, texts...)
	for i := range log {
		log[i].At = at.Add(-ago).Round(0).UTC()
	}
	return log
}

func countAll(x *exam) {
	handles := x.handles(2)
	s := handles[0]
	x.counts("an empty storage", handles, store.Filter{})
	for id, log := range map[string][]flow.Event{
		"a": x.aged(s, blue, arguing, 3*time.Hour),
		"b": x.aged(s, blue, arguing, 5*time.Hour),
		"c": x.aged(s, blue, arguing, time.Hour),
		"d": x.aged(s, "red", flow.StateAwaitingInput, 2*time.Hour),
		"e": x.aged(s, "red", flow.StateCompleted, 9*time.Hour),
		"f": x.aged(s, "red", flow.StateCanceled, 9*time.Hour),
		"g": x.aged(s, "red", flow.StateError, 4*time.Hour),
	} {
		x.append(s, id, 0, "w", log)
	}
	waits := []store.StateCount{
		{State: flow.StateAwaitingInput, Count: 1, Oldest: 2 * time.Hour}, {State: flow.StateError, Count: 1, Oldest: 4 * time.Hour},
	}
	all := func(when string, want ...store.StateCount) {
		x.Helper()
		x.counts(when, handles, store.Filter{}, append(want, waits...)...)
	}
	all("nobody has them", store.StateCount{State: arguing, Count: 3, Oldest: 5 * time.Hour})
	x.lease(handles[1], "b", "me", time.Hour)
	held := store.StateCount{State: arguing, Held: true, Count: 1, Oldest: 5 * time.Hour}
	all("one is held", store.StateCount{State: arguing, Count: 2, Oldest: 3 * time.Hour}, held)
	if _, ok := s.(store.Quarantines); ok {
		x.quarantine(s, "a", store.Quarantine{Count: 1, Reason: unreadable, Left: anHour})
		x.quarantine(s, "c", store.Quarantine{Count: 1, Reason: "lacks a provider"})
		all("one is in quarantine", store.StateCount{State: arguing, Count: 1, Oldest: time.Hour},
			store.StateCount{State: arguing, Quarantined: true, Count: 1, Oldest: 3 * time.Hour}, held)
		x.quarantine(s, "a", store.Quarantine{})
	}
	x.append(s, "a", 2, "w", after(2, changed(arguing, flow.StateCompleted)))
	all("one is over", store.StateCount{State: arguing, Count: 1, Oldest: time.Hour}, held)
	x.remove(s, "c")
	all("one is deleted", held)
}

func countFiltered(x *exam) {
	handles := x.handles(2)
	s := handles[0]
	x.append(s, "a", 0, "w", x.aged(s, blue, arguing, time.Hour, "needle"))
	x.append(s, "b", 0, "w", x.aged(s, "red", arguing, 2*time.Hour))
	x.append(s, "c", 0, "w", x.aged(s, "red", flow.StatePaused, 3*time.Hour))
	x.append(s, "d", 0, "w", x.aged(s, blue, flow.StateCompleted, 4*time.Hour, "needle"))
	x.lease(s, "b", "me", time.Hour)
	count := func(when string, filter store.Filter, want ...store.StateCount) {
		x.Helper()
		x.counts(when, handles, filter, want...)
	}
	a := store.StateCount{State: arguing, Count: 1, Oldest: time.Hour}
	b := store.StateCount{State: arguing, Held: true, Count: 1, Oldest: 2 * time.Hour}
	c := store.StateCount{State: flow.StatePaused, Count: 1, Oldest: 3 * time.Hour}
	labels := func(whose string) map[string]string { return map[string]string{tenant: whose} }
	count("all", store.Filter{}, a, b, c)
	count("of a tenant", store.Filter{Labels: labels(blue)}, a)
	count("of another", store.Filter{Labels: labels("red")}, b, c)
	count("of none", store.Filter{Labels: labels("green")})
	count("of a state", store.Filter{States: []flow.State{flow.StatePaused, flow.StateCompleted}}, c)
	count("of those at work", store.Filter{Working: true}, a, b)
	count("of those that nobody has", store.Filter{Idle: true}, a, c)
	count("of those that need a process", store.Filter{Due: true}, a)
	count("with a text", store.Filter{Text: "Needle"}, a)
	count("after an id", store.Filter{After: "a"}, b, c)
	count("of so many", store.Filter{Limit: 2}, a, b)
	count("of so many of each tenant", store.Filter{Per: tenant, Each: 1}, a, b)
}
