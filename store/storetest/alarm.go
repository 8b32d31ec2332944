package storetest

import (
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

func alarmChecks() []check {
	list := []check{
		{"alarm/every handle shows it", alarmShown},
		{"alarm/a conversation at work is left alone until then", alarmDelays},
		{"alarm/it rings when its time is over", alarmRings},
		{"alarm/it wakes a conversation that waits", alarmWakes},
		{"alarm/an append removes it", alarmAppended},
		{"alarm/a log sets it that waits for a person", alarmAsked},
		{"alarm/a lease leaves it", alarmLeased},
		{"alarm/of a log that ends elsewhere", alarmLate},
		{"alarm/of no conversation", alarmUnknown},
		{"alarm/it goes with its conversation", alarmDeleted},
	}
	for i := range list {
		run := list[i].run
		list[i].run = func(x *exam) {
			if _, ok := x.open().(store.Alarms); !ok {
				x.Skip("the store is no store.Alarms")
			}
			run(x)
		}
	}
	return list
}

func (x *exam) setAlarm(s store.Store, id string, seq int64, d time.Duration) {
	x.Helper()
	a, ok := s.(store.Alarms)
	if !ok {
		x.Fatalf("one handle is a store.Alarms and another is not")
		return
	}
	if err := a.SetAlarm(x.Context(), id, seq, d); err != nil {
		x.Fatalf("SetAlarm of %q failed: %v", id, err)
	}
}

// alarmed requires that a handle tells of an alarm of a conversation that was set to this time from then, both in its list and where it
// describes it. 0: there is none.
func (x *exam) alarmed(why string, s store.Store, id string, want time.Duration) {
	x.Helper()
	infos := x.list(s, store.Filter{})
	if _, ok := s.(store.Describer); ok {
		info, err := x.describe(s, id)
		if err != nil {
			x.Fatalf("Describe of %q failed: %v", id, err)
		}
		infos = append(infos, info)
	}
	told := 0
	for _, info := range infos {
		if info.ID != id {
			continue
		}
		told++
		got := time.Duration(info.Alarm)
		if got > want || got < want-2*x.patience || (got == 0) != (want == 0) {
			x.Errorf("%s: %q has an alarm in %v, want at most %v", why, id, got, want)
		}
	}
	if told == 0 {
		x.Errorf("%s: %q is not listed", why, id)
	}
}

func alarmShown(x *exam) {
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", debateOf("topic", nil, arguing))
	x.append(handles[0], "b", 0, "w", debateOf("topic", nil, flow.StateAwaitingInput))
	for n, d := range []time.Duration{time.Hour, 3 * time.Hour, 0, 2 * time.Hour, -time.Hour, 1000 * time.Hour} {
		x.setAlarm(handles[n%2], "a", 2, d)
		for _, s := range handles {
			x.alarmed("it was set", s, "a", max(0, d))
			x.alarmed("another was set", s, "b", 0)
		}
	}
	x.visit(func(s store.Store) { x.setAlarm(s, "b", 2, time.Hour) })
	x.alarmed("its handle is closed", handles[0], "b", time.Hour)
	x.alarmed("a new handle", x.open(), "a", 1000*time.Hour)
}

func alarmDelays(x *exam) {
	handles := x.handles(2)
	for _, id := range []string{"a", "b", "c"} {
		x.append(handles[0], id, 0, "w", debateOf("topic", nil, arguing))
	}
	x.setAlarm(handles[0], "b", 2, time.Hour)
	for _, s := range handles {
		x.listed("b needs nobody yet", s, store.Filter{Due: true}, "a", "c")
		x.listed("a page", s, store.Filter{Due: true, After: "a", Limit: 1}, "c")
		x.listed("at work and idle", s, store.Filter{Working: true, Idle: true}, "a", "b", "c")
	}
	x.setAlarm(handles[1], "b", 2, 0)
	x.listed("its alarm was removed", handles[0], store.Filter{Due: true}, "a", "b", "c")
}

func alarmRings(x *exam) {
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", debateOf("topic", nil, arguing))
	begin := time.Now()
	x.setAlarm(handles[0], "a", 2, short)
	x.until("the alarm has rung", func() bool { return len(x.list(handles[1], store.Filter{Due: true})) == 1 })
	if took := time.Since(begin); took < short-5*time.Millisecond {
		x.Errorf("an alarm of %v has rung after %v", short, took)
	}
	for _, s := range handles {
		for _, info := range x.list(s, store.Filter{}) {
			if info.Alarm >= 0 {
				x.Errorf("an alarm has rung, and List tells that it rings in %v", time.Duration(info.Alarm))
			}
		}
	}
}

func alarmWakes(x *exam) {
	handles := x.handles(2)
	s := handles[0]
	for id, state := range map[string]flow.State{
		"a": flow.StateAwaitingInput, "b": flow.StatePaused, "c": flow.StateError, "d": flow.StateCompleted, "e": flow.StateCanceled,
		"f": flow.StateAwaitingInput, "g": flow.StateAwaitingInput, "h": flow.StateAwaitingInput,
	} {
		x.append(s, id, 0, "w", debateOf("topic", nil, state))
		if id != "h" {
			x.setAlarm(s, id, 2, time.Millisecond)
		}
	}
	x.lease(s, "f", "me", time.Hour)
	want := []string{"a", "b", "c", "g"}
	if _, ok := s.(store.Quarantines); ok {
		x.quarantine(s, "g", store.Quarantine{Count: 1, Reason: unreadable, Left: anHour})
		want = want[:3]
	}
	x.until("the alarms have rung", func() bool { return len(x.list(handles[1], store.Filter{Due: true})) >= len(want) })
	for _, s := range handles {
		x.listed("alarms have rung", s, store.Filter{Due: true}, want...)
		x.listed("they are at work no more than before", s, store.Filter{Working: true})
	}
	x.setAlarm(s, "b", 2, time.Hour)
	x.setAlarm(s, "c", 2, 0)
	x.listed("one rings again, and one not any more", handles[1], store.Filter{Due: true, Limit: 2, After: "a"}, want[3:]...)
}

func alarmAppended(x *exam) {
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", debateOf("topic", nil, arguing))
	x.append(handles[0], "b", 0, "w", debateOf("topic", nil, flow.StateAwaitingInput))
	for i, id := range []string{"a", "b"} {
		x.setAlarm(handles[0], id, 2, time.Hour)
		x.append(handles[1-i], id, 2, "v", some(2, 1, "v"))
		for _, s := range handles {
			x.alarmed("the log has grown", s, id, 0)
		}
	}
	x.listed("a works again", handles[1], store.Filter{Due: true}, "a")
	x.setAlarm(handles[1], "b", 3, time.Millisecond)
	x.until("the alarm has rung", func() bool { return len(x.list(handles[0], store.Filter{Due: true})) == 2 })
	x.append(handles[0], "b", 3, "v", some(3, 1, "v"))
	x.listed("b waits again", handles[1], store.Filter{Due: true}, "a")
	x.setAlarm(handles[0], "a", 3, time.Hour)
	x.conflict("a conflict", handles[0], 2, "w", some(2, 1, "w"))
	x.alarmed("nothing was appended", handles[1], "a", time.Hour)
}

// alarmAsked: the log says until when a person is awaited. That counts in the state awaitingInput, also after appends that say nothing of
// it, and unless another alarm was set since the last of them.
func alarmAsked(x *exam) {
	handles := x.handles(2)
	s, now := handles[0], time.Now()
	if _, ok := s.(store.Clock); ok {
		now = x.time(s)
	}
	now = now.UTC().Truncate(time.Microsecond)
	asks := func(in time.Duration) flow.Event {
		return flow.Event{Body: &flow.Questions{Open: 1, Since: moment(1), Wake: now.Add(in)}}
	}
	alarmed := func(why, id string, want time.Duration) {
		x.Helper()
		for _, s := range handles {
			x.alarmed(why, s, id, want)
		}
	}
	x.append(s, "a", 0, "w", debateOf("topic", nil, arguing))
	x.append(s, "a", 2, "w", after(2, asks(time.Hour)))
	alarmed("it works", "a", 0)
	x.append(s, "a", 3, "w", after(3, changed(arguing, flow.StateAwaitingInput)))
	alarmed("it waits", "a", time.Hour)
	x.append(handles[1], "a", 4, "v", some(4, 1, "v"))
	alarmed("the log has grown", "a", time.Hour)
	for _, info := range x.list(s, store.Filter{}) {
		if !info.Wake.Equal(now.Add(time.Hour)) {
			x.Errorf("the log says %v, and List %v", now.Add(time.Hour), info.Wake)
		}
	}
	x.setAlarm(s, "a", 5, 3*time.Hour)
	alarmed("another was set", "a", 3*time.Hour)
	x.setAlarm(s, "a", 5, 0)
	alarmed("that was removed", "a", time.Hour)
	x.append(s, "a", 5, "w", after(5, changed(flow.StateAwaitingInput, flow.StatePaused)))
	alarmed("it is paused", "a", 0)
	x.append(s, "a", 6, "w", after(6, changed(flow.StatePaused, arguing), changed(arguing, flow.StateAwaitingInput)))
	alarmed("it waits again", "a", time.Hour)
	x.append(s, "a", 8, "w", after(8, asks(2*time.Hour)))
	alarmed("it has more time", "a", 2*time.Hour)
	x.append(s, "b", 0, "w", append(debateOf("topic", nil, flow.StateAwaitingInput), after(2, asks(time.Hour))...))
	alarmed("it has begun so", "b", time.Hour)
	x.listed("nobody needs a process", s, store.Filter{Due: true})
	x.append(s, "b", 3, "w", after(3, asks(-time.Minute)))
	x.listed("the time is over", handles[1], store.Filter{Due: true}, "b")
	x.append(s, "b", 4, "w", after(4, flow.Event{Body: &flow.Questions{}}))
	alarmed("nothing is asked", "b", 0)
	x.append(s, "a", 9, "w", after(9, changed(flow.StateAwaitingInput, flow.StateCanceled)))
	alarmed("it is over", "a", 0)
	x.listed("nobody needs a process any more", s, store.Filter{Due: true})
}

func alarmLeased(x *exam) {
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", debateOf("topic", nil, arguing))
	x.lease(handles[0], "a", "me", time.Hour)
	x.setAlarm(handles[1], "a", 2, time.Hour)
	x.alarmed("it is held", handles[0], "a", time.Hour)
	x.release(handles[0], "a", "me")
	x.listed("it was released", handles[1], store.Filter{Due: true})
	x.lease(handles[1], "a", "you", time.Hour)
	x.release(handles[1], "a", "you")
	for _, s := range handles {
		x.alarmed("it was held again", s, "a", time.Hour)
	}
}

func alarmLate(x *exam) {
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", debateOf("topic", nil, arguing))
	for _, seq := range []int64{0, 1, 3, -1} {
		x.setAlarm(handles[0], "a", seq, time.Hour)
	}
	x.alarmed("no log ends there", handles[1], "a", 0)
	x.setAlarm(handles[0], "a", 2, time.Hour)
	for _, d := range []time.Duration{0, 1000 * time.Hour} {
		x.setAlarm(handles[1], "a", 1, d)
	}
	x.alarmed("no log ends there", handles[0], "a", time.Hour)
}

func alarmUnknown(x *exam) {
	handles := x.handles(2)
	for _, seq := range []int64{0, 1} {
		x.setAlarm(handles[0], "a", seq, time.Hour)
	}
	x.unknown(handles[1], "a")
	x.listed("there is none", handles[0], store.Filter{})
	x.append(handles[1], "a", 0, "w", debateOf("topic", nil, arguing))
	x.alarmed("it has begun since", handles[0], "a", 0)
}

func alarmDeleted(x *exam) {
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", debateOf("topic", nil, arguing))
	x.setAlarm(handles[0], "a", 2, time.Hour)
	x.remove(handles[1], "a")
	x.unknown(handles[0], "a")
	x.append(handles[0], "a", 0, "w", debateOf("topic", nil, arguing))
	for _, s := range handles {
		x.alarmed("another conversation of this id", s, "a", 0)
		x.listed("another conversation of this id", s, store.Filter{Due: true}, "a")
	}
}
