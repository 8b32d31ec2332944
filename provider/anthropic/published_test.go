package anthropic_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider/providertest"
)

// What is sent to /v1/messages is what the types of Anthropic's SDK describe, and nothing else: the API refuses fields that it does
// not know.
func TestRequestsAreAsPublished(t *testing.T) {
	d, err := providertest.ReadDescription(filepath.Join("testdata", "published", "messages.json"), "MessageCreateParamsBase")
	require.NoError(t, err)
	paths, err := filepath.Glob(filepath.Join("testdata", "request", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		body, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.NoError(t, d.Check(body), path)
	}
	require.ErrorContains(t, d.Check([]byte(`{"model":"m","max_completion_tokens":7,"messages":[]}`)), "max_completion_tokens")
}
