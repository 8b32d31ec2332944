package prompt_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/prompt"
)

// TestCount: one thing is not written as several.
func TestCount(t *testing.T) {
	assert.Equal(t, []string{"0 words", "1 word", "2 words"}, []string{prompt.Count(0, "word"), prompt.Count(1, "word"), prompt.Count(2, "word")})
	assert.Equal(t, []string{"1 entry", "2 entries"}, []string{prompt.Count(1, "entry", "entries"), prompt.Count(2, "entry", "entries")})
	assert.Equal(t, []string{"there are 0", "there is 1", "there are 2"}, []string{prompt.There(0), prompt.There(1), prompt.There(2)})
}
