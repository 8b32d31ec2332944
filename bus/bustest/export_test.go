package bustest

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
)

// Names returns the names of all checks.
func Names() (names []string) {
	for _, c := range checks() {
		names = append(names, c.name)
	}
	return names
}

// Examine runs one check and returns what it finds wrong.
func Examine(t *testing.T, name string, fresh func(t testing.TB) Server) (faults []string) {
	t.Helper()
	for _, c := range checks() {
		if c.name != name {
			continue
		}
		w := &witness{TB: t}
		var group sync.WaitGroup
		group.Go(func() { c.run(&exam{TB: w, server: fresh(w)}) }) // a Fatalf of the check ends the goroutine
		group.Wait()
		return w.faults
	}
	t.Fatalf("no check %q", name)
	return nil
}

// witness writes down what a test would fail with.
type witness struct {
	testing.TB

	mu     sync.Mutex
	faults []string
}

func (w *witness) Helper() {}

func (w *witness) Errorf(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

func (w *witness) Error(args ...any) { w.Errorf("%s", fmt.Sprint(args...)) }

func (w *witness) Fatal(args ...any) { w.Fatalf("%s", fmt.Sprint(args...)) }

func (w *witness) Fatalf(format string, args ...any) {
	w.Errorf(format, args...)
	runtime.Goexit()
}

func (w *witness) Skip(args ...any) { w.Fatalf("skipped: %s", fmt.Sprint(args...)) }
