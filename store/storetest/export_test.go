package storetest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/agonist-dev/debate/internal/witness"
)

func (c check) title() string { return c.name }

// Names returns the names of all checks.
func Names() []string { return witness.Names(checks(), check.title) }

// Kinds returns the events that are tried, one of each kind.
var Kinds = kinds

// Examine runs the named check against a storage and yields what it finds. It does so in a bubble, where patience and whatever else a
// check waits for takes no time, and a busy machine none either.
func Examine(t *testing.T, name string, fresh func(t testing.TB) Storage) (faults []string) {
	t.Helper()
	c := witness.Named(t, checks(), check.title, name)
	synctest.Test(t, func(t *testing.T) {
		faults = witness.Of(t, func(w testing.TB) { c.run(&exam{TB: w, storage: fresh(w), patience: 400 * time.Millisecond}) })
		<-time.After(48 * time.Hour) // what a bad store has left waiting ends within a day
	})
	return faults
}
