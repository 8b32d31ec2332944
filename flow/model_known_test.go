package flow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
)

func TestTheKnownModelsAreThoseThatAreLookedUp(t *testing.T) {
	count := 0
	for name, model := range flow.KnownModels() {
		host, id, ok := flow.SplitModel(name)
		require.True(t, ok, name)
		row, ok := flow.LookupModel(host, id)
		require.True(t, ok, name)
		require.Equal(t, row, model, name)
		count++
	}
	assert.Greater(t, count, 300)
}
