package durable_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/bench"
	"github.com/agonist-dev/debate/store"
)

// engineOfW1 returns an engine that plays the workload W1.
func engineOfW1(store store.Store) *debate.Engine {
	return &debate.Engine{Store: store, Providers: map[string]debate.Provider{"bench": bench.NewScript()}}
}

// conclude plays the workload W1 to its end, so many rounds of it.
func conclude(t testing.TB, store store.Store, id string, rounds int) {
	t.Helper()
	config := bench.Config(rounds)
	config.ID = id
	record, err := engineOfW1(store).Play(t.Context(), config)
	require.NoError(t, err)
	require.Equal(t, flow.StateCompleted, record.State)
}
