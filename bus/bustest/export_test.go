package bustest

import (
	"testing"

	"github.com/agonist-dev/debate/internal/witness"
)

func (c check) title() string { return c.name }

// Names returns the names of all checks.
func Names() []string { return witness.Names(checks(), check.title) }

// Examine runs one check and returns what it finds wrong.
func Examine(t *testing.T, name string, fresh func(t testing.TB) Server) []string {
	t.Helper()
	c := witness.Named(t, checks(), check.title, name)
	return witness.Of(t, func(w testing.TB) { c.run(&exam{TB: w, server: fresh(w)}) })
}
