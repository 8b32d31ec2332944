package long_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/internal/long"
)

func TestOr(t *testing.T) {
	t.Setenv("DEBATE_LONG_TESTS", "")
	assert.False(t, long.Tests())
	assert.Equal(t, 1, long.Or(10, 1))
	t.Setenv("DEBATE_LONG_TESTS", "1")
	assert.True(t, long.Tests())
	assert.Equal(t, 10, long.Or(10, 1))
}
