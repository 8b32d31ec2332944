package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

func watchChecks() []check {
	list := []check{
		{"watch/appends of the same handle", watchSame},
		{"watch/appends of another handle", watchOther},
		{"watch/a conversation that is yet to begin", watchUnbegun},
		{"watch/nobody waits for who does not look", watchMerged},
		{"watch/all who watch are told", watchMany},
		{"watch/it ends with its context", watchEnds},
		{"watch/a conversation that is begun again", watchAgain},
		{"watch/a conversation that is deleted", watchDeleted},
		{"watch/a store that is closed wakes who watches", watchClosed},
	}
	for i := range list {
		run := list[i].run
		list[i].run = func(x *exam) {
			if _, ok := x.open().(store.Watcher); !ok {
				x.Skip("the store is no store.Watcher")
			}
			run(x)
		}
	}
	return list
}

func (x *exam) watch(ctx context.Context, s store.Store, id string) <-chan struct{} {
	x.Helper()
	w, ok := s.(store.Watcher)
	if !ok {
		x.Fatalf("one handle is a store.Watcher and another is not")
		return nil
	}
	grown := w.Watch(ctx, id)
	if grown == nil {
		x.Fatalf("Watch yields no channel")
	}
	return grown
}

// grows waits until the log has that many events, as a reader would. A value without a new event only
// costs the reader a look.
func (x *exam) grows(grown <-chan struct{}, s store.Store, id string, events int) {
	x.Helper()
	timer := time.NewTimer(x.patience)
	defer timer.Stop()
	for {
		select {
		case _, ok := <-grown:
			if !ok {
				x.Fatalf("the channel is closed, and watching has not ended")
			}
		case <-timer.C:
			x.Fatalf("%v after an append no value has come", x.patience)
		}
		if len(x.read(s, id, 0)) >= events {
			return
		}
	}
}

func watchSame(x *exam) {
	s := x.open()
	x.append(s, "a", 0, "w", some(0, 1, "w"))
	grown := x.watch(x.Context(), s, "a")
	for n := int64(1); n < 6; n++ {
		x.append(s, "a", n, "w", some(n, 1, "w"))
		x.grows(grown, s, "a", int(n)+1)
	}
}

func watchOther(x *exam) {
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", some(0, 1, "w"))
	grown := x.watch(x.Context(), handles[1], "a")
	for n := int64(1); n < 4; n++ {
		x.append(handles[0], "a", n, "w", some(n, 1, "w"))
		x.grows(grown, handles[1], "a", int(n)+1)
	}
	x.visit(func(s store.Store) { x.append(s, "a", 4, "w", some(4, 1, "w")) })
	x.grows(grown, handles[1], "a", 5)
}

func watchUnbegun(x *exam) {
	handles := x.handles(2)
	grown := x.watch(x.Context(), handles[0], "a")
	other := x.watch(x.Context(), handles[1], "a")
	x.unknown(handles[0], "a")
	x.listed("watching begins no conversation", handles[0], store.Filter{})
	x.append(handles[0], "a", 0, "w", some(0, 2, "w"))
	x.grows(grown, handles[0], "a", 2)
	x.grows(other, handles[1], "a", 2)
}

func watchMerged(x *exam) {
	const commits = 100
	s := x.open()
	x.append(s, "a", 0, "w", some(0, 1, "w"))
	grown := x.watch(x.Context(), s, "a")
	unread := x.watch(x.Context(), s, "a")
	ctx := x.Context()
	x.within("appending while nobody looks", func() error {
		for n := int64(1); n < commits; n++ {
			if err := s.Append(ctx, "a", n, "w", some(n, 1, "w")); err != nil {
				return err
			}
		}
		return nil
	})
	x.grows(grown, s, "a", commits)
	x.append(s, "a", commits, "w", some(commits, 1, "w"))
	x.grows(grown, s, "a", commits+1)
	x.grows(unread, s, "a", commits+1)
}

func watchMany(x *exam) {
	handles := x.handles(2)
	for _, id := range []string{"a", "b"} {
		x.append(handles[0], id, 0, "w", some(0, 1, id))
	}
	type watcher struct {
		id    string
		store store.Store
		grown <-chan struct{}
	}
	var all []watcher
	for i := range 40 {
		id, s := []string{"a", "b"}[i%2], handles[i/2%2]
		all = append(all, watcher{id, s, x.watch(x.Context(), s, id)})
	}
	for _, id := range []string{"a", "b"} {
		x.append(handles[0], id, 1, "w", some(1, 1, id))
	}
	for _, w := range all {
		x.grows(w.grown, w.store, w.id, 2)
	}
}

func watchEnds(x *exam) {
	const many = 200
	s := x.open()
	x.append(s, "a", 0, "w", some(0, 1, "w"))
	x.grows(func() <-chan struct{} { // the first watch may start a goroutine that stays
		grown := x.watch(x.Context(), s, "a")
		x.append(s, "a", 1, "w", some(1, 1, "w"))
		return grown
	}(), s, "a", 2)
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(x.Context())
	defer cancel()
	var all []<-chan struct{}
	for i := range many {
		all = append(all, x.watch(ctx, s, []string{"a", "b"}[i%2]))
	}
	cancel()
	end := int64(2)
	x.until("nobody is told any more", func() bool {
		for _, grown := range all {
			for open := true; open && len(grown) > 0; {
				_, open = <-grown
			}
		}
		x.append(s, "a", end, "w", some(end, 1, "w"))
		end++
		for _, grown := range all {
			select {
			case _, open := <-grown:
				if open {
					return false
				}
			default:
			}
		}
		return true
	})
	x.until(fmt.Sprintf("the goroutines of %d that have ended are gone", many), func() bool {
		return runtime.NumGoroutine() < before+many/2
	})
	x.watch(canceled(x.Context()), s, "a")
	x.append(s, "a", end, "w", some(end, 1, "w"))
}

func watchAgain(x *exam) {
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", some(0, 3, "w"))
	grown := x.watch(x.Context(), handles[0], "a")
	other := x.watch(x.Context(), handles[1], "a")
	x.remove(handles[0], "a")
	x.append(handles[0], "a", 0, "v", some(0, 1, "v"))
	x.grows(grown, handles[0], "a", 1)
	x.grows(other, handles[1], "a", 1)
	x.append(handles[0], "a", 1, "v", some(1, 3, "v"))
	x.grows(grown, handles[0], "a", 4)
	x.grows(other, handles[1], "a", 4)
}

func watchDeleted(x *exam) {
	handles := x.handles(2)
	var changed []<-chan struct{}
	for _, s := range handles {
		x.append(s, "a", int64(len(changed)), "w", some(int64(len(changed)), 1, "w"))
		changed = append(changed, x.watch(x.Context(), s, "a"))
	}
	x.grows(changed[0], handles[0], "a", 2)
	x.remove(handles[0], "a")
	for i, s := range handles {
		x.fails(changed[i], s, "a", "the conversation was deleted", flow.ErrNotFound)
	}
}

func watchClosed(x *exam) {
	other := x.open()
	for _, id := range []string{"a", "b"} {
		x.append(other, id, 0, "w", some(0, 1, id))
	}
	s := x.open()
	closer, ok := s.(io.Closer)
	if !ok {
		x.Skip("the store has no method Close")
		return
	}
	var watches []<-chan struct{}
	for i := range 4 {
		watches = append(watches, x.watch(x.Context(), s, []string{"a", "b"}[i%2]))
	}
	if err := closer.Close(); err != nil {
		x.Fatalf("Close failed: %v", err)
	}
	for i, watch := range append(watches, x.watch(x.Context(), s, "a"), x.watch(x.Context(), s, "yet-to-begin")) {
		x.fails(watch, s, []string{"a", "b"}[i%2], "the store was closed", nil)
	}
}

// fails waits for a value after which the log cannot be read, as a reader would, because of what has happened: with the error want; nil:
// with any.
func (x *exam) fails(woken <-chan struct{}, s store.Store, id, what string, want error) {
	x.Helper()
	timer := time.NewTimer(x.patience)
	defer timer.Stop()
	for {
		select {
		case <-woken:
		case <-timer.C:
			x.Fatalf("%v after %s no value has come", x.patience, what)
		}
		for _, err := range s.Read(x.Context(), id, 0) {
			if err != nil && (want == nil || errors.Is(err, want)) {
				return
			}
		}
	}
}
