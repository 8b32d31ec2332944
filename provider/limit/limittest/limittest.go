// Package limittest is the conformance suite for implementations of [limit.Ledger]:
//
//	func TestConformance(t *testing.T) {
//		limittest.Run(t, func(t testing.TB) limittest.Open {
//			dir := t.TempDir()
//			return func(t testing.TB) limit.Ledger { return newledger.Open(t, dir) }
//		})
//	}
//
// Each check is a subtest with the name of the clause of the contract that it tests. Run the suite with the race
// detector too.
package limittest

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agonist-dev/debate/provider/limit"
)

// Open opens one more handle to the same ledger, as another machine would, and registers its closing with t.Cleanup.
type Open func(t testing.TB) limit.Ledger

// Run runs the suite. Each check gets an empty ledger.
func Run(t *testing.T, empty func(t testing.TB) Open) {
	t.Helper()
	for name, check := range map[string]func(*testing.T, Open){
		"an unknown name is empty":    unknownName,
		"all handles see an update":   shared,
		"names are told apart":        names,
		"no update is lost":           concurrent,
		"the clock is one":            clock,
		"an ended context ends it":    ended,
		"change is not called behind": behind,
	} {
		t.Run(name, func(t *testing.T) { check(t, empty(t)) })
	}
}

func unknownName(t *testing.T, open Open) {
	if got := swap(t, open(t), "a", "x"); got != "" {
		t.Errorf("a name that was never used has the value %q", got)
	}
}

func shared(t *testing.T, open Open) {
	a, b := open(t), open(t)
	long := strings.Repeat(`{"é":"\"'%_--"} `, 4096) // 64 KiB
	swap(t, a, "a", "x")
	if got := swap(t, b, "a", long); got != "x" {
		t.Errorf("another handle finds %q", got)
	}
	if got := swap(t, a, "a", ""); got != long {
		t.Errorf("a value of %d bytes comes back with %d", len(long), len(got))
	}
	if got := swap(t, b, "a", "y"); got != "" {
		t.Errorf("a value that was emptied is %q", got)
	}
}

func names(t *testing.T, open Open) {
	l := open(t)
	all := []string{
		"a", "A", "a ", "", "\x00", "\xff", "\ufffd", `"`, `"\x00"`, "'; --", "%", "_", "é", strings.Repeat("a", 1024), strings.Repeat("a", 1023),
	}
	for _, name := range all {
		if got := swap(t, l, name, "x"); got != "" {
			t.Errorf("the name %q has the value of another: %q", name, got)
		}
	}
}

func concurrent(t *testing.T, open Open) {
	const machines, callers, updates = 3, 2, 20
	var group sync.WaitGroup
	for range machines {
		l := open(t)
		for range callers {
			group.Go(func() {
				for range updates {
					if err := l.UpdateLimit(t.Context(), "a", func(value []byte, _ time.Time) []byte { return append(value, 'x') }); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	group.Wait()
	if got := len(swap(t, open(t), "a", "")); got != machines*callers*updates {
		t.Errorf("of %d updates there are %d", machines*callers*updates, got)
	}
}

func clock(t *testing.T, open Open) {
	ledgers := []limit.Ledger{open(t), open(t)}
	var last time.Time
	for i := range 10 {
		err := ledgers[i%2].UpdateLimit(t.Context(), "a", func(_ []byte, now time.Time) []byte {
			if now.Before(last) {
				t.Errorf("after %v it is %v", last, now)
			}
			last = now
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if last.Year() < 2020 {
		t.Errorf("it is %v", last)
	}
}

func ended(t *testing.T, open Open) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := open(t)
	err := l.UpdateLimit(ctx, "a", func([]byte, time.Time) []byte { return []byte("x") })
	if got := swap(t, l, "a", ""); err == nil && got != "x" {
		t.Error("an update without an error was not made")
	}
}

func behind(t *testing.T, open Open) {
	l := open(t)
	for range 10 {
		var over atomic.Bool
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		_ = l.UpdateLimit(ctx, "a", func(value []byte, _ time.Time) []byte {
			if over.Load() {
				t.Error("change is called after UpdateLimit has returned")
			}
			return value
		})
		over.Store(true)
		cancel()
	}
	swap(t, l, "a", "") // what still runs has time to be seen
}

// swap replaces a value and returns the one before.
func swap(t *testing.T, l limit.Ledger, name, value string) (before string) {
	t.Helper()
	err := l.UpdateLimit(t.Context(), name, func(present []byte, _ time.Time) []byte {
		before = string(present)
		return []byte(value)
	})
	if err != nil {
		t.Fatal(err)
	}
	return before
}
