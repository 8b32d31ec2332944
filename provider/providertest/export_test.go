package providertest

import (
	"testing"
	"time"
)

// Examine runs the named case against a provider and yields what it finds.
func Examine(t *testing.T, name string, patience time.Duration, connect Connect) []error {
	t.Helper()
	for _, c := range cases() {
		if c.name == name {
			x := &exam{t: t, connect: connect, patience: patience}
			c.run(x)
			return x.faults()
		}
	}
	t.Fatalf("no case %q", name)
	return nil
}

// Names yields the names of all cases.
func Names() []string {
	var names []string
	for _, c := range cases() {
		names = append(names, c.name)
	}
	return names
}

// Goroutines and Leaked are how goroutines are counted.
var (
	Goroutines = goroutines
	Leaked     = leaked
)
