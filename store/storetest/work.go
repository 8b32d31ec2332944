package storetest

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

func workChecks() []check {
	list := []check{
		{"work/a conversation begins", workBegun},
		{"work/a conversation is woken", workWoken},
		{"work/a lease is released", workReleased},
		{"work/nobody waits for who does not look", workMerged},
		{"work/steps and rest are no work", workRests},
		{"work/it ends with its context", workEnds},
	}
	for i := range list {
		run := list[i].run
		list[i].run = func(x *exam) {
			if _, ok := x.open().(store.Announcer); !ok {
				x.Skip("the store is no store.Announcer")
			}
			run(x)
		}
	}
	return list
}

func (x *exam) announce(ctx context.Context, s store.Store) <-chan struct{} {
	x.Helper()
	a, ok := s.(store.Announcer)
	if !ok {
		x.Fatalf("one handle is a store.Announcer and another is not")
		return nil
	}
	work := a.Announce(ctx)
	if work == nil {
		x.Fatalf("Announce yields no channel")
	}
	return work
}

func changed(from, to flow.State) flow.Event {
	return flow.Event{Body: &flow.Transition{From: from, To: to}}
}

// due waits until a conversation needs a process, as a worker would: a value that comes for nothing only costs it a list.
func (x *exam) due(work <-chan struct{}, s store.Store, id string) {
	x.Helper()
	timer := time.NewTimer(x.patience)
	defer timer.Stop()
	for {
		select {
		case _, ok := <-work:
			if !ok {
				x.Fatalf("the channel is closed, and announcing has not ended")
			}
		case <-timer.C:
			x.Fatalf("%v after %q has come to need a process no value has come", x.patience, id)
		}
		for _, info := range x.list(s, store.Filter{Working: true, Idle: true}) {
			if info.ID == id {
				return
			}
		}
	}
}

// quiet waits until no values come any more that are due to what has happened so far.
func (x *exam) quiet(one, two <-chan struct{}) {
	for {
		select {
		case <-one:
		case <-two:
		case <-time.After(rest):
			return
		}
	}
}

func workBegun(x *exam) {
	handles := x.handles(2)
	same, other := x.announce(x.Context(), handles[0]), x.announce(x.Context(), handles[1])
	x.append(handles[0], "a", 0, "w", debateOf("topic", nil, arguing))
	x.due(same, handles[0], "a")
	x.due(other, handles[1], "a")
	x.quiet(same, other)
	x.visit(func(s store.Store) { x.append(s, "b", 0, "w", debateOf("topic", nil, arguing)) })
	x.due(same, handles[0], "b")
	x.due(other, handles[1], "b")
}

func workWoken(x *exam) {
	handles := x.handles(2)
	for _, state := range []flow.State{flow.StatePaused, flow.StateAwaitingInput, flow.StateError} {
		id := string(state)
		x.append(handles[0], id, 0, "w", debateOf("topic", nil, state))
		same, other := x.announce(x.Context(), handles[0]), x.announce(x.Context(), handles[1])
		x.quiet(same, other)
		x.append(handles[0], id, 2, "v", after(2, changed(state, arguing)))
		x.due(same, handles[0], id)
		x.due(other, handles[1], id)
	}
}

func workReleased(x *exam) {
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", debateOf("topic", nil, arguing))
	for range 3 {
		x.lease(handles[0], "a", "me", time.Hour)
		same, other := x.announce(x.Context(), handles[0]), x.announce(x.Context(), handles[1])
		x.quiet(same, other)
		x.release(handles[0], "a", "me")
		x.due(same, handles[0], "a")
		x.due(other, handles[1], "a")
	}
}

func workMerged(x *exam) {
	s := x.open()
	x.append(s, "a", 0, "w", debateOf("topic", nil, arguing))
	work, unread := x.announce(x.Context(), s), x.announce(x.Context(), s)
	ctx := x.Context()
	x.within("waking while nobody looks", func() error {
		for n := int64(2); n < 100; n += 2 {
			if err := s.Append(ctx, "a", n, "w", after(n, changed(arguing, flow.StatePaused), changed(flow.StatePaused, arguing))); err != nil {
				return err
			}
		}
		return nil
	})
	x.append(s, "b", 0, "w", debateOf("topic", nil, arguing))
	x.due(work, s, "b")
	x.due(unread, s, "b")
}

// workRests requires that a worker is not woken all the time by what other workers do. A value or two may be late.
func workRests(x *exam) {
	const times, late = 8, 2
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", debateOf("topic", nil, arguing))
	x.lease(handles[0], "a", "w", time.Hour)
	same, other := x.announce(x.Context(), handles[0]), x.announce(x.Context(), handles[1])
	x.quiet(same, other)
	var values [2]int
	for i := range int64(times) {
		id := fmt.Sprint("b", i)
		x.append(handles[0], "a", 2+2*i, "w", some(2+2*i, 2, "w"))
		x.append(handles[0], id, 0, "w", debateOf("topic", nil, flow.StatePaused))
		x.lease(handles[0], id, "w", time.Hour)
		x.release(handles[0], id, "w")
		if i == times-1 {
			x.append(handles[0], "a", 4+2*i, "w", after(4+2*i, changed(arguing, flow.StateCompleting)))
			x.append(handles[0], "a", 5+2*i, "w", after(5+2*i, changed(flow.StateCompleting, flow.StatePaused)))
			x.release(handles[0], "a", "w")
		}
		for end := time.After(rest / 4); end != nil; {
			select {
			case <-same:
				values[0]++
			case <-other:
				values[1]++
			case <-end:
				end = nil
			}
		}
	}
	for i, which := range []string{"", " from another handle"} {
		if values[i] > late {
			x.Errorf("%d values have come%s, and there is no work", values[i], which)
		}
	}
	x.append(handles[0], "b0", 2, "w", after(2, changed(flow.StatePaused, arguing)))
	x.due(same, handles[0], "b0")
	x.due(other, handles[1], "b0")
}

func workEnds(x *exam) {
	const many = 200
	s := x.open()
	x.announce(x.Context(), s) // the first may start a goroutine that stays
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(x.Context())
	defer cancel()
	var all []<-chan struct{}
	for range many {
		all = append(all, x.announce(ctx, s))
	}
	cancel()
	next := 0
	x.until("nobody is told any more", func() bool {
		for _, work := range all {
			for open := true; open && len(work) > 0; {
				_, open = <-work
			}
		}
		next++
		x.append(s, fmt.Sprint("d", next), 0, "w", debateOf("topic", nil, arguing))
		for _, work := range all {
			select {
			case _, open := <-work:
				if open {
					return false
				}
			default:
			}
		}
		return true
	})
	x.until("their goroutines are gone", func() bool { return runtime.NumGoroutine() < before+many/2 })
	x.announce(canceled(x.Context()), s)
	x.append(s, "z", 0, "w", debateOf("topic", nil, arguing))
}
