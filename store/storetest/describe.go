package storetest

import (
	"errors"
	"fmt"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

func describeChecks() []check {
	list := []check{
		{"describe/every handle says what its list says", describeListed},
		{"describe/of no conversation", describeUnknown},
		{"describe/of a damaged conversation", describeDamaged},
	}
	for i := range list {
		run := list[i].run
		list[i].run = func(x *exam) {
			if _, ok := x.open().(store.Describer); !ok {
				x.Skip("the store is no store.Describer")
			}
			run(x)
		}
	}
	return list
}

func (x *exam) describe(s store.Store, id string) (store.Info, error) {
	x.Helper()
	d, ok := s.(store.Describer)
	if !ok {
		x.Fatalf("one handle is a store.Describer and another is not")
	}
	return d.Describe(x.Context(), id)
}

// listing is a store without optional abilities.
type listing struct{ store.Store }

// described requires that a handle describes conversations as it lists them.
func (x *exam) described(when string, s store.Store) {
	x.Helper()
	for _, want := range x.list(s, store.Filter{}) {
		got, err := x.describe(s, want.ID)
		if err != nil {
			x.Fatalf("%s: Describe of %q failed: %v", when, want.ID, err)
		}
		got.Quarantine.Left = min(got.Quarantine.Left, want.Quarantine.Left) // time passes, and the store may round
		want.Quarantine.Left = got.Quarantine.Left
		if (got.Alarm > 0) == (want.Alarm > 0) {
			got.Alarm = want.Alarm
		}
		if !got.Since.Equal(want.Since) {
			x.Errorf("%s: Describe says that %q has its state since %v, and List since %v", when, want.ID, got.Since, want.Since)
		}
		if !got.StartedAt.Equal(want.StartedAt) || !got.LastAt.Equal(want.LastAt) {
			x.Errorf("%s: Describe says that %q has gone from %v to %v, and List from %v to %v",
				when, want.ID, got.StartedAt, got.LastAt, want.StartedAt, want.LastAt)
		}
		found, err := store.InfoOf(x.Context(), listing{s}, want.ID)
		found.Quarantine.Left, found.Alarm = want.Quarantine.Left, want.Alarm
		if err != nil || fmt.Sprintf("%+v", found) != fmt.Sprintf("%+v", want) {
			x.Errorf("%s: InfoOf finds %+v in the list, and %v, want %+v", when, found, err, want)
		}
		got.StartedAt, got.LastAt, got.Since = want.StartedAt, want.LastAt, want.Since
		if got, want := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); got != want {
			x.Errorf("%s: Describe yields %s, and List %s", when, got, want)
		}
	}
}

func describeListed(x *exam) {
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", debateOf("a", map[string]string{tenant: "red"}, arguing, "text"))
	x.append(handles[0], "b", 0, "w", some(0, 1, "b"))
	both := func(when string) {
		x.Helper()
		for _, s := range handles {
			x.described(when, s)
		}
	}
	both("they have begun")
	x.lease(handles[0], "a", "me", time.Hour)
	both("one is leased")
	x.append(handles[1], "b", 1, "w", some(1, 2, "b"))
	both("one has grown")
	x.release(handles[0], "a", "me")
	both("no lease is left")
	if _, ok := handles[0].(store.Alarms); ok {
		x.setAlarm(handles[0], "a", 3, time.Hour)
		both("one has an alarm")
	}
	if q, ok := handles[0].(store.Quarantines); ok {
		if err := q.SetQuarantine(x.Context(), "a", store.Quarantine{Count: 2, Reason: "no key", Left: flow.Duration(time.Hour)}); err != nil {
			x.Fatalf("SetQuarantine failed: %v", err)
		}
		both("one is in quarantine")
	}
}

func describeUnknown(x *exam) {
	s := x.open()
	unknown := func(why, id string) {
		x.Helper()
		if info, err := x.describe(s, id); !errors.Is(err, flow.ErrNotFound) {
			x.Errorf("%s: Describe gave %+v and %v, want flow.ErrNotFound", why, info, err)
		}
	}
	unknown("an empty store", "a")
	x.lease(s, "a", "me", time.Hour)
	unknown("only leased", "a")
	x.release(s, "a", "me")
	x.append(s, "a", 0, "w", some(0, 1, "a"))
	unknown("another id", "b")
	x.remove(s, "a")
	unknown("deleted", "a")
	if _, err := x.describe(s, "../a"); err == nil || errors.Is(err, flow.ErrNotFound) {
		x.Errorf("Describe of an id that is refused gave %v", err)
	}
}

func describeDamaged(x *exam) {
	s := x.damaged()
	for id, damaged := range map[string]bool{"a": false, "b": true, "c": false} {
		info, err := x.describe(s, id)
		if err != nil {
			x.Errorf("Describe of %q failed: %v, and a store that fails is tried again", id, err)
		} else if (info.Err != nil) != damaged {
			x.Errorf("Describe of %q says %v of it, and only b is damaged", id, info.Err)
		}
	}
}
