package storetest

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Names returns the names of all checks.
func Names() []string {
	var names []string
	for _, c := range checks() {
		names = append(names, c.name)
	}
	return names
}

// Kinds returns the events that are tried, one of each kind.
var Kinds = kinds

// Examine runs the named check against a storage and yields what it finds. It does so in a bubble, where patience and whatever else a
// check waits for takes no time, and a busy machine none either.
func Examine(t *testing.T, name string, fresh func(t testing.TB) Storage) (faults []string) {
	t.Helper()
	for _, c := range checks() {
		if c.name != name {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			w := &witness{TB: t}
			done := make(chan struct{})
			go func() { // which a Fatalf of the check ends
				defer close(done)
				defer w.end()
				c.run(&exam{TB: w, storage: fresh(w), patience: 400 * time.Millisecond})
			}()
			<-done
			faults = w.found()
			<-time.After(48 * time.Hour) // what a bad store has left waiting ends within a day
		})
		return faults
	}
	t.Fatalf("no check %q", name)
	return nil
}

// witness writes down what a test would fail with.
type witness struct {
	testing.TB

	mu     sync.Mutex
	faults []string
	ends   []func()
}

func (w *witness) add(fault string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, fault)
}

func (w *witness) found() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.faults
}

func (w *witness) Helper()                           {}
func (w *witness) Logf(string, ...any)               {}
func (w *witness) Errorf(format string, args ...any) { w.add(fmt.Sprintf(format, args...)) }
func (w *witness) Failed() bool                      { return len(w.found()) > 0 }

func (w *witness) Fatalf(format string, args ...any) {
	w.Errorf(format, args...)
	runtime.Goexit()
}

func (w *witness) Skip(args ...any) {
	w.add("skipped: " + fmt.Sprint(args...))
	runtime.Goexit()
}

func (w *witness) Cleanup(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ends = append(w.ends, f)
}

func (w *witness) end() {
	for _, end := range slices.Backward(w.ends) {
		end()
	}
}
