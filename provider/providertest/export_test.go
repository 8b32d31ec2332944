package providertest

import (
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/agonist-dev/debate/internal/witness"
)

func (c testCase) title() string { return c.name }

func (r row) title() string { return r.name }

// Examine runs the named case against a provider, in a bubble of package synctest, and yields what it finds.
func Examine(t *testing.T, name string, connect Connect) (found []string) {
	t.Helper()
	c := witness.Named(t, slices.Concat(cases(), bodyCases(), abilities(), speeches()), testCase.title, name)
	synctest.Test(t, func(t *testing.T) {
		x := &exam{t: t, connect: connect, patience: patience}
		c.run(x)
		found = x.faults()
	})
	return found
}

// Names returns the names of all cases.
func Names() []string { return witness.Names(slices.Concat(cases(), bodyCases()), testCase.title) }

// ExamineHTTP runs the checks of a row against an adapter and yields what they find.
func ExamineHTTP(t *testing.T, name string, h HTTP) (found []string) {
	t.Helper()
	for _, c := range h.checks(witness.Named(t, table(), row.title, name)) {
		t.Run(c.name, func(t *testing.T) {
			h.conduct(t, c, func(faults []string) { found = append(found, faults...) })
		})
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
