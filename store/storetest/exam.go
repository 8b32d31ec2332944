package storetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// exam is one run of one check.
type exam struct {
	testing.TB

	storage  Storage
	patience time.Duration
}

// open opens a handle, which is closed when the check ends.
func (x *exam) open() store.Store {
	x.Helper()
	return x.storage.Open(x.TB)
}

// handles opens n handles.
func (x *exam) handles(n int) []store.Store {
	x.Helper()
	handles := make([]store.Store, n)
	for i := range handles {
		handles[i] = x.open()
	}
	return handles
}

// visit opens a handle, and closes it when do has returned.
func (x *exam) visit(do func(store store.Store)) {
	x.Helper()
	l := &life{TB: x.TB}
	defer l.end()
	do(x.storage.Open(l))
}

// life is a part of a test. What is opened in it is closed at its end.
type life struct {
	testing.TB

	ends []func()
}

// Cleanup registers f to be called at the end.
func (l *life) Cleanup(f func()) { l.ends = append(l.ends, f) }

func (l *life) end() {
	for len(l.ends) > 0 {
		last := len(l.ends) - 1
		f := l.ends[last]
		l.ends = l.ends[:last]
		f()
	}
}

func (x *exam) append(store store.Store, id string, after int64, writer string, events []flow.Event) {
	x.Helper()
	if err := store.Append(x.Context(), id, after, writer, events); err != nil {
		x.Fatalf("Append of %d events after %d to %q failed: %v", len(events), after, id, err)
	}
}

// conflict requires that Append to conversation a fails with flow.ErrConflict.
func (x *exam) conflict(why string, store store.Store, after int64, writer string, events []flow.Event) {
	x.Helper()
	if err := store.Append(x.Context(), "a", after, writer, events); !errors.Is(err, flow.ErrConflict) {
		x.Errorf("%s: Append after %d gave %v, want flow.ErrConflict", why, after, err)
	}
}

func (x *exam) read(store store.Store, id string, after int64) []flow.Event {
	x.Helper()
	events, err := collect(store.Read(x.Context(), id, after))
	if err != nil {
		x.Fatalf("Read of %q after %d failed: %v", id, after, err)
	}
	return events
}

// log requires that Read yields exactly these events after a number.
func (x *exam) log(store store.Store, id string, after int64, want []flow.Event) {
	x.Helper()
	if what := unlike(lines(x, x.read(store, id, after)), lines(x, want)); what != "" {
		x.Errorf("the log of %q after %d is not what was appended: %s", id, after, what)
	}
}

// unknown requires that Read does not find the conversation.
func (x *exam) unknown(store store.Store, id string) {
	x.Helper()
	events, err := collect(store.Read(x.Context(), id, 0))
	if !errors.Is(err, flow.ErrNotFound) {
		x.Errorf("Read of %q gave %v, want flow.ErrNotFound", id, err)
	}
	if len(events) > 0 {
		x.Errorf("Read of %q yields %d events, and there is no such conversation", id, len(events))
	}
}

func (x *exam) list(store store.Store, filter store.Filter) []store.Info {
	x.Helper()
	infos, err := collect(store.List(x.Context(), filter))
	if err != nil {
		x.Fatalf("List failed: %v", err)
	}
	return infos
}

// listed requires that List yields exactly these conversations, in this order.
func (x *exam) listed(why string, store store.Store, filter store.Filter, want ...string) {
	x.Helper()
	if got := names(x.list(store, filter)); !slices.Equal(got, want) {
		x.Errorf("%s: List yields %s, want %s", why, brief(strings.Join(got, " ")), brief(strings.Join(want, " ")))
	}
}

func (x *exam) lease(store store.Store, id, owner string, d time.Duration) {
	x.Helper()
	if err := store.Lease(x.Context(), id, owner, d); err != nil {
		x.Fatalf("Lease of %q for %s failed: %v", id, owner, err)
	}
}

// leased requires that Lease fails, because another owner holds the conversation.
func (x *exam) leased(why string, store store.Store, id, owner string) {
	x.Helper()
	if err := store.Lease(x.Context(), id, owner, time.Hour); !errors.Is(err, flow.ErrLeased) {
		x.Errorf("%s: Lease of %q for %s gave %v, want flow.ErrLeased", why, id, owner, err)
	}
}

func (x *exam) release(store store.Store, id, owner string) {
	x.Helper()
	if err := store.Release(x.Context(), id, owner); err != nil {
		x.Errorf("Release of %q by %s failed: %v", id, owner, err)
	}
}

func (x *exam) remove(store store.Store, id string) {
	x.Helper()
	if err := store.Delete(x.Context(), id); err != nil {
		x.Fatalf("Delete of %q failed: %v", id, err)
	}
}

// crowd calls do n times concurrently. Because do runs on other goroutines, it must not end the test.
func (x *exam) crowd(n int, do func(i int)) {
	var group sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		group.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	group.Wait()
}

// within turns a call that never returns into a failure. do runs on a goroutine that may outlive the
// test, so it must not use the test.
func (x *exam) within(what string, do func() error) {
	x.Helper()
	done := make(chan error, 1)
	go func() { done <- do() }()
	timer := time.NewTimer(x.patience)
	defer timer.Stop()
	select {
	case err := <-done:
		if err != nil {
			x.Errorf("%s: %v", what, err)
		}
	case <-timer.C:
		x.Fatalf("%s takes more than %v", what, x.patience)
	}
}

// until waits for a condition that becomes true sooner or later.
func (x *exam) until(what string, ok func() bool) {
	x.Helper()
	timer := time.NewTimer(x.patience)
	defer timer.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-timer.C:
			x.Fatalf("after %v still not: %s", x.patience, what)
		}
	}
}

// rest is for how long nothing may happen before a check takes it that nothing is going to. A store that looks for what others have done
// does so more often.
const rest = 250 * time.Millisecond

// collect reads what a store yields. Anything after an error is a fault of its own.
func collect[T any](seq func(yield func(T, error) bool)) ([]T, error) {
	var all []T
	var failed error
	for one, err := range seq {
		if failed != nil {
			return all, fmt.Errorf("there is more after the error: %w", failed)
		}
		if failed = err; err == nil {
			all = append(all, one)
		}
	}
	return all, failed
}

// lines returns events as they are stored. Invalid UTF-8 becomes the replacement character, which
// encoding/json escapes when it inserts it, and not when it finds it.
func lines(t testing.TB, events []flow.Event) []string {
	t.Helper()
	out := make([]string, len(events))
	for i := range events {
		data, err := json.Marshal(events[i])
		if err == nil && bytes.Contains(data, []byte(`\ufffd`)) {
			var replaced flow.Event
			if err = json.Unmarshal(data, &replaced); err == nil {
				data, err = json.Marshal(replaced)
			}
		}
		if err != nil {
			t.Fatalf("event %d cannot be written as JSON: %v", i, err)
		}
		out[i] = string(data)
	}
	return out
}

func names(infos []store.Info) []string {
	out := make([]string, len(infos))
	for i := range infos {
		out[i] = infos[i].ID
	}
	return out
}

// unlike says how two lists differ, "" if they do not.
func unlike(got, want []string) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Sprintf("there are %d in place of %d, the first that is missing is %s", len(got), len(want), brief(want[i]))
		case i >= len(want):
			return fmt.Sprintf("there are %d in place of %d, the first too many is %s", len(got), len(want), brief(got[i]))
		case got[i] != want[i]:
			at := 0
			for at < min(len(got[i]), len(want[i])) && got[i][at] == want[i][at] {
				at++
			}
			at = max(0, at-20)
			return fmt.Sprintf("number %d of %d differs: %s in place of %s", i+1, len(want), brief(got[i][at:]), brief(want[i][at:]))
		}
	}
	return ""
}

func brief(text string) string {
	if len(text) > 200 {
		return fmt.Sprintf("%q and %d bytes more", text[:200], len(text)-200)
	}
	return fmt.Sprintf("%q", text)
}

// canceled returns a context that is done.
func canceled(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}
