package providertest

import (
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
)

// Examine runs the named case against a provider, in a bubble of package synctest, and yields what it finds.
func Examine(t *testing.T, name string, connect Connect) (found []error) {
	t.Helper()
	for _, c := range slices.Concat(cases(), bodyCases(), abilities(), speeches()) {
		if c.name == name {
			synctest.Test(t, func(t *testing.T) {
				x := &exam{t: t, connect: connect, patience: patience}
				c.run(x)
				found = x.faults()
			})
			return found
		}
	}
	t.Fatalf("no case %q", name)
	return nil
}

// Names returns the names of all cases.
func Names() []string {
	var names []string
	for _, c := range slices.Concat(cases(), bodyCases()) {
		names = append(names, c.name)
	}
	return names
}

// ExamineHTTP runs the checks of a row against an adapter and yields what they find.
func ExamineHTTP(t *testing.T, name string, h HTTP) []error {
	t.Helper()
	var found []error
	for _, r := range table() {
		if r.name != name {
			continue
		}
		for _, c := range h.checks(r) {
			t.Run(c.name, func(t *testing.T) {
				h.conduct(t, c, func(faults []error) { found = append(found, faults...) })
			})
		}
	}
	return found
}

// LoadFault and Gaps are what RunHTTP fails with.
var (
	LoadFault = func(path string) (Fault, error) { return loadFault(filepath.Dir(path), path) }
	Gaps      = func(h HTTP) []error { return h.gaps() }
)

// Goroutines and Leaked are how goroutines are counted.
var (
	Goroutines = goroutines
	Leaked     = leaked
)
