package flow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/stage"
)

// TestSeed: a host's own seed draws the same fence, labels and orders again; without one they are new.
func TestSeed(t *testing.T) {
	config := stage.TwoDebaters()
	texts := func(seed func() string) map[string]string {
		engine, _ := stage.Engine(config)
		engine.Seed = seed
		start, err := kernel.Of(t, engine).Freeze(config)
		require.NoError(t, err)
		require.NotEmpty(t, start.Seed)
		return start.Texts
	}
	for seed, same := range map[string]bool{"mine": true, "": false} {
		given := func() string { return seed }
		first, second := texts(given), texts(given)
		if same {
			assert.Equal(t, first, second)
		} else {
			assert.NotEqual(t, first, second)
		}
	}
	first, second := texts(nil), texts(nil)
	assert.NotEqual(t, first, second)
}
