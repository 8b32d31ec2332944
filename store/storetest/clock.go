package storetest

import (
	"time"

	"github.com/agonist-dev/debate/store"
)

func clockChecks() []check {
	list := []check{
		{"clock/every handle shows the same", clockShared},
		{"clock/it goes on", clockGoes},
	}
	for i := range list {
		run := list[i].run
		list[i].run = func(x *exam) {
			if _, ok := x.open().(store.Clock); !ok {
				x.Skip("the store is no store.Clock")
			}
			run(x)
		}
	}
	return list
}

// rounding is by how much an answer may be wrong.
const rounding = 2 * time.Second

func (x *exam) time(s store.Store) time.Time {
	x.Helper()
	c, ok := s.(store.Clock)
	if !ok {
		x.Fatalf("one handle is a store.Clock and another is not")
	}
	at, err := c.Time(x.Context())
	if err != nil {
		x.Fatalf("Time failed: %v", err)
	}
	return at
}

// clockShared asks several handles. What the clock of this process shows does not matter, but how much time has passed by it.
func clockShared(x *exam) {
	handles := x.handles(3)
	begin := time.Now()
	first := x.time(handles[0])
	near := func(which string, s store.Store) {
		x.Helper()
		at := x.time(s)
		if passed := time.Since(begin); at.Sub(first) > passed+rounding || at.Sub(first) < -rounding {
			x.Errorf("a handle showed %v, and within %v %s shows %v", first, passed, which, at)
		}
	}
	for i := range 2 * len(handles) {
		near("another", handles[i%len(handles)])
	}
	x.visit(func(s store.Store) { near("a new one", s) })
	x.append(handles[0], "a", 0, "w", some(0, 1, "w")) // its events have other times
	near("one of a log that has grown", handles[1])
}

func clockGoes(x *exam) {
	handles := x.handles(2)
	first := x.time(handles[0])
	x.until("the clock shows another time", func() bool { return x.time(handles[1]).After(first) })
}
