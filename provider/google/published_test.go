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
	names := map[string]string{"count.json": "CountTokensRequest", "embed.json": "BatchEmbedContentsRequest"}
	paths, err := filepath.Glob(filepath.Join("testdata", "request", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		name := names[filepath.Base(path)]
		if name == "" {
			name = "GenerateContentRequest"
		}
		d, err := providertest.ReadDescription(filepath.Join("testdata", "published", "gemini.json"), name)
		require.NoError(t, err)
		body, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.NoError(t, d.Check(body), path)
	}
}
