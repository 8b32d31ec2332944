package stage

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
)

// View returns the debate of a record. It is empty if the record is of another flow.
func View(r *debate.Record) *debate.Debate {
	if d, ok := debate.Of(r); ok {
		return d
	}
	return &debate.Debate{Record: r}
}

// Canonical returns the canonical form of a record.
func Canonical(t *testing.T, r *debate.Record) string {
	t.Helper()
	data, err := View(r).Canonical()
	require.NoError(t, err)
	return string(data)
}

// Undisturbed returns the canonical form of the debate if nothing interrupts it.
func Undisturbed(t *testing.T, config debate.Config) string {
	t.Helper()
	config.ID, config.Budget = "", nil
	engine, _ := Engine(config)
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	record, err := session.Wait(t.Context())
	require.NoError(t, err)
	require.NoError(t, session.Close())
	return Canonical(t, record)
}
