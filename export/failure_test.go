package export_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFailuresStandTogether: attempts at one call that failed for one cause share a row, and the answers that were not accepted stand
// beside them.
func TestFailuresStandTogether(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, storm().play(t).Markdown(&out))
	failures, engine, ok := strings.Cut(out.String(), "## How it ran")
	require.True(t, ok)
	assert.Contains(t, failures, "| 2 | Ada | acme/large | 1 to 3 | api error: HTTP 500: ")
	assert.Contains(t, failures, "**Answers that were not accepted**")
	assert.NotContains(t, engine, "not accepted**")
}
