package debate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSeed: a host's own seed draws the same fence, labels and orders again; without one they are new.
func TestSeed(t *testing.T) {
	config := twoDebaters()
	texts := func(seed func() string) map[string]string {
		engine, _ := engineFor(config)
		engine.Seed = seed
		start, err := engine.Freeze(config)
		require.NoError(t, err)
		require.NotEmpty(t, start.Seed)
		return start.Texts
	}
	mine := func() string { return "mine" }
	assert.Equal(t, texts(mine), texts(mine))
	assert.NotEqual(t, texts(nil), texts(nil))
	none := func() string { return "" }
	assert.NotEqual(t, texts(none), texts(none))
}
