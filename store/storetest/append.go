package storetest

import (
	"errors"
	"fmt"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

func appendChecks() []check {
	return []check{
		{"append/what is appended can be read", appendRead},
		{"append/through several handles", appendHandles},
		{"append/is kept when its handle is closed", appendKept},
		{"append/a gap is a conflict", appendGap},
		{"append/a place that is taken is a conflict", appendTaken},
		{"append/a conflict is seen by every handle", appendTakenElsewhere},
		{"append/the second try of a writer succeeds", appendAgain},
		{"append/the second try succeeds through another handle", appendAgainElsewhere},
		{"append/the second try without a writer is a conflict", appendAgainNobody},
		{"append/a second try with more events is a conflict", appendAgainLonger},
		{"append/a writer that others have overtaken is in conflict", appendOvertaken},
		{"append/all events or none", appendAllOrNone},
		{"append/without events nothing happens", appendNothing},
		{"append/the events may be overwritten afterwards", appendOverwritten},
		{"append/needs no lease", appendNoLease},
		{"append/canceled", appendCanceled},
		{"append/many events in one commit", appendMany},
	}
}

func appendRead(x *exam) {
	s := x.open()
	x.append(s, "a", 0, "w", some(0, 1, "w"))
	x.log(s, "a", 0, some(0, 1, "w"))
	x.append(s, "a", 1, "w", some(1, 3, "w"))
	x.append(s, "a", 4, "v", some(4, 2, "w"))
	x.append(s, "b", 0, "w", some(0, 2, "b"))
	x.log(s, "a", 0, some(0, 6, "w"))
	x.log(s, "b", 0, some(0, 2, "b"))
}

func appendHandles(x *exam) {
	handles := x.handles(3)
	for n := range int64(12) {
		x.append(handles[n%3], "a", n, fmt.Sprint("w", n%3), some(n, 1, "w"))
		x.log(handles[(n+1)%3], "a", 0, some(0, int(n)+1, "w"))
	}
}

func appendKept(x *exam) {
	x.visit(func(s store.Store) { x.append(s, "a", 0, "w", some(0, 3, "w")) })
	x.visit(func(s store.Store) {
		x.log(s, "a", 0, some(0, 3, "w"))
		x.append(s, "a", 3, "v", some(3, 2, "w"))
	})
	x.visit(func(s store.Store) { x.log(s, "a", 0, some(0, 5, "w")) })
}

func appendGap(x *exam) {
	s := x.open()
	for _, end := range []int64{1, 1 << 62, -1} {
		x.conflict("the log is empty", s, end, "w", some(end, 1, "w"))
	}
	x.unknown(s, "a")
	x.append(s, "a", 0, "w", some(0, 2, "w"))
	for _, writer := range []string{"w", "v", ""} {
		x.conflict("the log ends at 2", s, 3, writer, some(3, 1, "w"))
		x.conflict("the log ends at 2", s, 1<<40, writer, some(1<<40, 1, "w"))
		x.conflict("no event has a number below 1", s, -1, writer, some(-1, 1, "w"))
	}
	x.log(s, "a", 0, some(0, 2, "w"))
}

func appendTaken(x *exam) {
	s := x.open()
	x.append(s, "a", 0, "w", some(0, 1, "w"))
	x.append(s, "a", 1, "w", some(1, 2, "w"))
	for _, writer := range []string{"v", ""} {
		for place := range int64(3) {
			for n := range 4 {
				x.conflict("w has written there", s, place, writer, some(place, n+1, "v"))
			}
		}
	}
	x.log(s, "a", 0, some(0, 3, "w"))
	x.append(s, "a", 3, "v", some(3, 1, "w"))
	x.log(s, "a", 0, some(0, 4, "w"))
}

func appendTakenElsewhere(x *exam) {
	one, other := x.open(), x.open()
	x.append(one, "a", 0, "w", some(0, 1, "w"))
	x.conflict("another handle has begun the conversation", other, 0, "v", some(0, 1, "v"))
	x.append(other, "a", 1, "v", some(1, 1, "w"))
	x.conflict("another handle was faster", one, 1, "w", some(1, 1, "v"))
	x.append(one, "a", 2, "w", some(2, 1, "w"))
	x.conflict("another handle was faster", other, 2, "v", some(2, 1, "v"))
	x.visit(func(s store.Store) {
		x.conflict("others were faster before this handle was open", s, 2, "u", some(2, 1, "v"))
	})
	x.log(one, "a", 0, some(0, 3, "w"))
	x.log(other, "a", 0, some(0, 3, "w"))
}

func appendAgain(x *exam) {
	s := x.open()
	for try := range 3 {
		if err := s.Append(x.Context(), "a", 0, "w", some(0, 3, "w")); err != nil {
			x.Errorf("try %d to begin the log failed: %v", try+1, err)
		}
	}
	for try := range 3 {
		if err := s.Append(x.Context(), "a", 3, "w", some(3, 1, "w")); err != nil {
			x.Errorf("try %d to go on failed: %v", try+1, err)
		}
	}
	x.log(s, "a", 0, some(0, 4, "w"))
	x.append(s, "a", 4, "w", some(4, 1, "w"))
	x.log(s, "a", 0, some(0, 5, "w"))
}

func appendAgainElsewhere(x *exam) {
	other := x.open()
	again := func(after int64, n int) {
		x.Helper()
		for name, s := range map[string]store.Store{"a handle that was open": other, "a handle opened since": x.open()} {
			if err := s.Append(x.Context(), "a", after, "w", some(after, n, "w")); err != nil {
				x.Errorf("the second try through %s failed: %v", name, err)
			}
		}
		x.log(other, "a", 0, some(0, int(after)+n, "w"))
	}
	x.visit(func(s store.Store) { x.append(s, "a", 0, "w", some(0, 1, "w")) })
	again(0, 1)
	x.visit(func(s store.Store) { x.append(s, "a", 1, "w", some(1, 3, "w")) })
	again(1, 3)
	x.conflict("v has not written there", other, 1, "v", some(1, 3, "w"))
}

func appendAgainNobody(x *exam) {
	s := x.open()
	x.append(s, "a", 0, "", some(0, 1, "w"))
	x.conflict("nobody can prove to be the writer", s, 0, "", some(0, 1, "w"))
	x.conflict("nobody can prove to be the writer", x.open(), 0, "", some(0, 1, "w"))
	x.append(s, "a", 1, "", some(1, 1, "w"))
	x.log(s, "a", 0, some(0, 2, "w"))
}

// Success would report an event as stored that is not.
func appendAgainLonger(x *exam) {
	s := x.open()
	x.append(s, "a", 0, "w", some(0, 2, "w"))
	x.conflict("two of the three are there", s, 0, "w", some(0, 3, "w"))
	x.conflict("one of the three is there", s, 1, "w", some(1, 3, "w"))
	x.log(s, "a", 0, some(0, 2, "w"))
}

func appendOvertaken(x *exam) {
	one, other := x.open(), x.open()
	x.append(one, "a", 0, "w", some(0, 2, "w"))
	x.append(other, "a", 2, "v", some(2, 2, "w"))
	x.conflict("v has written there", one, 2, "w", some(2, 2, "w"))
	x.conflict("v has written there", one, 3, "w", some(3, 1, "w"))
	x.conflict("w has written there", other, 1, "v", some(1, 1, "w"))
	x.log(one, "a", 0, some(0, 4, "w"))
}

func appendAllOrNone(x *exam) {
	s := x.open()
	x.append(s, "a", 0, "w", some(0, 2, "w"))
	x.conflict("a part of it overlaps", s, 1, "v", some(1, 3, "v"))
	x.log(s, "a", 0, some(0, 2, "w"))
	// JSON cannot represent this year, so a store that writes JSON cannot store the event.
	odd := some(2, 3, "w")
	odd[1].At = time.Date(20026, time.May, 1, 0, 0, 0, 0, time.UTC)
	if err := s.Append(x.Context(), "a", 2, "w", odd); err == nil {
		if n := len(x.read(s, "a", 0)); n != 5 {
			x.Errorf("Append succeeded, and of 5 events there are %d", n)
		}
		return
	} else if errors.Is(err, flow.ErrConflict) {
		x.Errorf("an event that cannot be written is no conflict: %v", err)
	}
	x.log(s, "a", 0, some(0, 2, "w"))
	x.log(x.open(), "a", 0, some(0, 2, "w"))
	x.append(s, "a", 2, "w", some(2, 3, "w"))
	x.log(s, "a", 0, some(0, 5, "w"))
}

func appendNothing(x *exam) {
	s := x.open()
	for _, events := range [][]flow.Event{nil, {}} {
		x.append(s, "none", 0, "w", events)
	}
	x.unknown(s, "none")
	x.listed("nothing was appended", s, store.Filter{})
	x.append(s, "a", 0, "w", some(0, 2, "w"))
	x.append(s, "a", 2, "w", nil)
	x.append(s, "a", 2, "v", []flow.Event{})
	x.append(s, "a", 2, "v", some(2, 1, "w"))
	x.log(s, "a", 0, some(0, 3, "w"))
}

func appendOverwritten(x *exam) {
	s := x.open()
	events := some(0, 3, "w")
	for n := range int64(3) {
		copy(events, some(3*n, 3, "w"))
		x.append(s, "a", 3*n, "w", events)
		for i := range events {
			events[i] = flow.Event{Seq: 99, Body: &flow.RetriedNow{}}
		}
		x.log(s, "a", 0, some(0, 3*int(n)+3, "w"))
	}
	// Spare capacity in the slice shows whether Append writes into it.
	events = some(9, 4, "w")
	x.append(s, "a", 9, "w", events[:2])
	if what := unlike(lines(x, events), lines(x, some(9, 4, "w"))); what != "" {
		x.Errorf("Append has written into the caller's slice: %s", what)
	}
}

func appendNoLease(x *exam) {
	s, other := x.open(), x.open()
	x.lease(s, "a", "me", time.Hour)
	x.append(other, "a", 0, "you", some(0, 1, "w"))
	x.append(s, "a", 1, "me", some(1, 1, "w"))
	x.append(other, "a", 2, "you", some(2, 1, "w"))
	x.log(s, "a", 0, some(0, 3, "w"))
	x.leased("appending does not end a lease", other, "a", "you")
}

// A context that is already done may stop the append or come too late; the writer finds out with a retry.
func appendCanceled(x *exam) {
	s := x.open()
	x.append(s, "a", 0, "w", some(0, 1, "w"))
	_ = s.Append(canceled(x.Context()), "a", 1, "w", some(1, 2, "w"))
	if n := len(x.read(s, "a", 0)); n != 1 && n != 3 {
		x.Errorf("after a canceled Append of 2 to 1 there are %d events", n)
	}
	x.append(s, "a", 1, "w", some(1, 2, "w"))
	x.log(s, "a", 0, some(0, 3, "w"))
}

func appendMany(x *exam) {
	s := x.open()
	n := manyEvents()
	last := int64(n)
	x.append(s, "a", 0, "w", some(0, n, "w"))
	x.append(s, "a", 0, "w", some(0, n, "w")) // as if the writer did not know that it had succeeded
	x.conflict("v has not written there", s, 0, "v", some(0, n, "w"))
	x.conflict("all but the last are there", s, 0, "w", some(0, n+1, "w"))
	x.append(s, "a", last, "w", some(last, 1, "w"))
	x.log(x.open(), "a", 0, some(0, n+1, "w"))
	x.log(s, "a", last-3, some(last-3, 4, "w"))
}
