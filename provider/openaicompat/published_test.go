package openaicompat_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider/providertest"
)

// What the preset for OpenAI sends to /chat/completions is what OpenAI describes, and nothing else.
func TestRequestsAreAsPublished(t *testing.T) {
	d, err := providertest.ReadDescription(filepath.Join("testdata", "published", "openai.json"), "CreateChatCompletionRequest")
	require.NoError(t, err)
	for _, name := range []string{"openai.json", "preset_openai.golden", "preset_openai_tools.golden"} {
		body, err := os.ReadFile(filepath.Join("testdata", "request", name))
		require.NoError(t, err)
		assert.NoError(t, d.Check(body), name)
	}
}
