package storetest

import (
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

func quarantineChecks() []check {
	list := []check{
		{"quarantine/every handle reads it", quarantineKept},
		{"quarantine/workers leave the conversation alone", quarantineDue},
		{"quarantine/its time ends", quarantineLapses},
		{"quarantine/it is ended", quarantineEnded},
		{"quarantine/it goes with its conversation", quarantineDeleted},
		{"quarantine/of a damaged conversation", quarantineDamaged},
	}
	for i := range list {
		run := list[i].run
		list[i].run = func(x *exam) {
			if _, ok := x.open().(store.Quarantines); !ok {
				x.Skip("the store is no store.Quarantines")
			}
			run(x)
		}
	}
	return list
}

func (x *exam) quarantines(s store.Store) store.Quarantines {
	x.Helper()
	q, ok := s.(store.Quarantines)
	if !ok {
		x.Fatalf("one handle is a store.Quarantines and another is not")
	}
	return q
}

func (x *exam) quarantine(s store.Store, id string, q store.Quarantine) {
	x.Helper()
	if err := x.quarantines(s).SetQuarantine(x.Context(), id, q); err != nil {
		x.Fatalf("SetQuarantine of %q failed: %v", id, err)
	}
}

// quarantined requires that a handle tells of a quarantine of the only conversation, a, both when it is asked and in its list.
// No more is left of it than was set.
func (x *exam) quarantined(s store.Store, want store.Quarantine) {
	x.Helper()
	got, err := x.quarantines(s).Quarantine(x.Context(), "a")
	if err != nil {
		x.Fatalf("Quarantine failed: %v", err)
	}
	all := []store.Quarantine{got}
	for _, info := range x.list(s, store.Filter{}) {
		all = append(all, info.Quarantine)
	}
	for i, q := range all {
		where := []string{"Quarantine", "List"}[i]
		if q.Count != want.Count || q.Reason != want.Reason {
			x.Errorf("%s tells of a quarantine with count %d and reason %s, want %d and %s", where, q.Count, brief(q.Reason),
				want.Count, brief(want.Reason))
		}
		if q.Left > want.Left || q.Left < want.Left-flow.Duration(2*x.patience) || want.Left > 0 && q.Left <= 0 {
			x.Errorf("%s tells that %v of a quarantine are left, want at most %v", where, time.Duration(q.Left), time.Duration(want.Left))
		}
	}
}

// unreadable is a reason.
const unreadable = "is damaged"

const anHour = flow.Duration(time.Hour)

func quarantineKept(x *exam) {
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", debateOf("topic", nil, arguing))
	for _, s := range handles {
		x.quarantined(s, store.Quarantine{})
	}
	for n, reason := range []string{unreadable, "\x00 \"'\\%\n🙂 \u2028 \xff", strings.Repeat("long ", 200), ""} {
		q := store.Quarantine{Count: n + 1, Reason: reason, Left: anHour << (n % 2)}
		x.quarantine(handles[n%2], "a", q)
		if !strings.Contains(reason, "\xff") { // a store may replace what is no text
			x.quarantined(handles[0], q)
			x.quarantined(handles[1], q)
		}
	}
	x.append(handles[0], "a", 2, "w", some(2, 1, "w"))
	x.lease(handles[0], "a", "me", time.Hour)
	x.release(handles[0], "a", "me")
	x.quarantined(handles[1], store.Quarantine{Count: 4, Left: 2 * anHour})
	x.visit(func(s store.Store) { x.quarantine(s, "a", store.Quarantine{Count: 5, Reason: "x", Left: anHour}) })
	x.quarantined(x.open(), store.Quarantine{Count: 5, Reason: "x", Left: anHour})
}

func quarantineDue(x *exam) {
	handles := x.handles(2)
	for id, state := range map[string]flow.State{
		"a": arguing, "b": flow.StateRunning, "c": flow.StatePaused, "d": flow.StateCompleted, "e": flow.StateInitializing, "f": arguing,
	} {
		x.append(handles[0], id, 0, "w", debateOf("topic", nil, state))
	}
	due := func(why string, want ...string) {
		x.Helper()
		for _, s := range handles {
			x.listed(why, s, store.Filter{Due: true}, want...)
		}
	}
	due("at work, and nobody holds them", "a", "b", "e", "f")
	x.lease(handles[0], "b", "me", time.Hour)
	due("b is held", "a", "e", "f")
	x.quarantine(handles[0], "e", store.Quarantine{Count: 1, Reason: unreadable, Left: anHour})
	due("e could not be opened", "a", "f")
	x.quarantine(handles[1], "a", store.Quarantine{Count: 3, Reason: "lacks a provider"})
	due("nothing is left of the quarantine of a", "a", "f")
	x.listed("the newest first, one", handles[0], store.Filter{Due: true, Newest: true, Limit: 1}, "f")
	x.listed("a page", handles[0], store.Filter{Due: true, After: "a"}, "f")
	x.listed("at work", handles[1], store.Filter{Working: true}, "a", "b", "e", "f")
	x.listed("at work and idle", handles[1], store.Filter{Working: true, Idle: true}, "a", "e", "f")
}

func quarantineLapses(x *exam) {
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", debateOf("topic", nil, arguing))
	begin := time.Now()
	x.quarantine(handles[0], "a", store.Quarantine{Count: 2, Reason: unreadable, Left: flow.Duration(short)})
	x.until("the quarantine is over", func() bool { return len(x.list(handles[1], store.Filter{Due: true})) == 1 })
	if took := time.Since(begin); took < short-5*time.Millisecond {
		x.Errorf("a quarantine of %v has ended after %v", short, took)
	}
	x.quarantined(handles[0], store.Quarantine{Count: 2, Reason: unreadable})
}

func quarantineEnded(x *exam) {
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", debateOf("topic", nil, arguing))
	x.quarantine(handles[0], "a", store.Quarantine{})
	for _, s := range handles {
		x.quarantine(s, "a", store.Quarantine{Count: 1, Reason: unreadable, Left: anHour})
		announcer, ok := s.(store.Announcer)
		if !ok {
			x.quarantine(handles[1], "a", store.Quarantine{})
			x.quarantined(s, store.Quarantine{})
			continue
		}
		work := announcer.Announce(x.Context())
		x.quiet(work, nil)
		x.quarantine(handles[1], "a", store.Quarantine{})
		x.due(work, s, "a")
		x.quarantined(s, store.Quarantine{})
	}
}

func quarantineDeleted(x *exam) {
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", debateOf("topic", nil, arguing))
	x.quarantine(handles[0], "a", store.Quarantine{Count: 1, Reason: unreadable, Left: anHour})
	x.remove(handles[1], "a")
	x.quarantined(handles[0], store.Quarantine{})
	x.unknown(handles[0], "a")
	x.append(handles[0], "a", 0, "w", debateOf("topic", nil, arguing))
	x.listed("another conversation of this id", handles[1], store.Filter{Due: true}, "a")
}

func quarantineDamaged(x *exam) {
	if x.storage.Damage == nil {
		x.Skip("there are no bytes to damage")
	}
	handles := x.handles(2)
	for _, id := range []string{"a", "b", "c"} {
		x.append(handles[0], id, 0, "w", debateOf("topic", nil, arguing))
	}
	x.storage.Damage(x.TB, "b")
	x.listed("b is to be seen", handles[1], store.Filter{Due: true}, "a", "b", "c")
	x.quarantine(handles[0], "b", store.Quarantine{Count: 1, Reason: unreadable, Left: anHour})
	x.listed("b could not be opened", handles[1], store.Filter{Due: true}, "a", "c")
	for _, info := range x.list(handles[1], store.Filter{}) {
		if (info.Quarantine.Count == 1) != (info.ID == "b") {
			x.Errorf("List tells of a quarantine of %q with count %d", info.ID, info.Quarantine.Count)
		}
	}
	x.quarantine(handles[0], "b", store.Quarantine{})
	x.listed("b is to be seen again", handles[1], store.Filter{Due: true}, "a", "b", "c")
}
