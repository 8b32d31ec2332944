// Package witness lets the tests of a conformance suite see what its checks find wrong with a bad implementation.
package witness

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// Faults are what a check has found wrong. The zero Faults is empty. Faults are safe for concurrent use.
type Faults struct {
	mu   sync.Mutex
	list []string
}

// Addf adds a fault.
func (f *Faults) Addf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, fmt.Sprintf(format, args...))
}

// List returns the faults so far, in the order in which they were added.
func (f *Faults) List() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list)
}

// Names returns the names of checks, in order.
func Names[C any](checks []C, name func(C) string) []string {
	names := make([]string, len(checks))
	for i, c := range checks {
		names[i] = name(c)
	}
	return names
}

// Named returns the check with a name. If there is none, it ends the test.
func Named[C any](t testing.TB, checks []C, name func(C) string, want string) (found C) {
	t.Helper()
	at := slices.IndexFunc(checks, func(c C) bool { return name(c) == want })
	if at < 0 {
		t.Fatalf("no check %q", want)
		return found
	}
	return checks[at]
}

// Of runs a check and returns what its test would fail with. The check runs on a goroutine of its own, which a Fatalf or a Skip ends; a
// skipped check is a fault too. What it registers with Cleanup runs before Of returns.
func Of(t testing.TB, check func(w testing.TB)) []string {
	t.Helper()
	w := &witness{TB: t}
	var group sync.WaitGroup
	group.Go(func() {
		defer w.end()
		check(w)
	})
	group.Wait()
	return w.faults.List()
}

// witness writes down what a test would fail with.
type witness struct {
	testing.TB

	faults Faults
	mu     sync.Mutex
	ends   []func()
}

func (w *witness) Helper()                           {}
func (w *witness) Logf(string, ...any)               {}
func (w *witness) Failed() bool                      { return len(w.faults.List()) > 0 }
func (w *witness) Errorf(format string, args ...any) { w.faults.Addf(format, args...) }
func (w *witness) Error(args ...any)                 { w.faults.Addf("%s", fmt.Sprint(args...)) }

func (w *witness) Fatalf(format string, args ...any) {
	w.faults.Addf(format, args...)
	runtime.Goexit()
}

func (w *witness) Fatal(args ...any) { w.Fatalf("%s", fmt.Sprint(args...)) }
func (w *witness) Skip(args ...any)  { w.Fatalf("skipped: %s", fmt.Sprint(args...)) }

func (w *witness) Cleanup(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ends = append(w.ends, f)
}

func (w *witness) end() {
	for _, f := range slices.Backward(w.ends) {
		f()
	}
}
