package anthropic_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider/providertest"
)

// What is sent to /v1/messages and to /v1/messages/count_tokens is what the types of Anthropic's SDK
// describe, and nothing else: the API refuses fields that it does not know.
func TestRequestsAreAsPublished(t *testing.T) {
	for folder, name := range map[string]string{"request": "MessageCreateParamsBase", "count": "MessageCountTokensParams"} {
		d, err := providertest.ReadDescription(filepath.Join("testdata", "published", "messages.json"), name)
		require.NoError(t, err)
		paths, err := filepath.Glob(filepath.Join("testdata", folder, "*.json"))
		require.NoError(t, err)
		require.NotEmpty(t, paths)
		for _, path := range paths {
			body, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.NoError(t, d.Check(body), path)
		}
		require.ErrorContains(t, d.Check([]byte(`{"model":"m","max_completion_tokens":7,"messages":[]}`)), "max_completion_tokens")
	}
}
