package ollama_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider/providertest"
)

// What is sent to /api/chat is what Ollama describes, and nothing else.
func TestRequestsAreAsPublished(t *testing.T) {
	d, err := providertest.ReadDescription(filepath.Join("testdata", "published", "ollama.json"), "ChatRequest")
	require.NoError(t, err)
	paths, err := filepath.Glob(filepath.Join("testdata", "request", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		body, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.NoError(t, d.Check(body), path)
	}
}
