package google_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider/providertest"
)

// What is sent to Gemini is what Google publishes as Protocol Buffers, and nothing else: the API refuses
// fields that it does not know.
func TestRequestsAreAsPublished(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "request", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	d, err := providertest.ReadDescription(filepath.Join("testdata", "published", "gemini.json"), "GenerateContentRequest")
	require.NoError(t, err)
	for _, path := range paths {
		body, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.NoError(t, d.Check(body), path)
	}
}
