package text_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/internal/text"
)

// TestFill: a short text with very many holes does not become one of gigabytes.
func TestFill(t *testing.T) {
	assert.Equal(t, "a b a", text.Fill("? b ?", "?", "a"))
	assert.Equal(t, "none", text.Fill("none", "?", "a"))
	hostile := strings.Repeat("?", 1<<16)
	assert.Equal(t, hostile, text.Fill(hostile, "?", strings.Repeat("a", 1<<16)))
	assert.Len(t, text.Fill(hostile, "?", "aa"), 2<<16)
}
