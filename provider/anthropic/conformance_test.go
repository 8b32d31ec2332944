package anthropic_test

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/anthropic"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/providertest"
)

func TestConformance(t *testing.T) {
	providertest.Run(t, connect)
	providertest.RunAbilities(t, connect)
	providertest.RunThoughts(t, connect)
}

func connect(t *testing.T, s providertest.Scenario) provider.Provider {
	t.Helper()
	server := httptest.NewServer(adaptertest.Claude{Scenario: s})
	t.Cleanup(server.Close)
	p := anthropic.New(s.Key)
	p.BaseURL, p.Client = server.URL, server.Client()
	return p
}

func TestFaults(t *testing.T) {
	adaptertest.Faults(t, providertest.HTTP{
		Connect: func(_ testing.TB, s providertest.Server) provider.Provider {
			p := anthropic.New(s.Key)
			p.BaseURL, p.Client = s.URL, s.Client
			p.IdleTimeout, p.MaxBody, p.MaxLine = s.IdleTimeout, s.MaxBody, s.MaxLine
			return p
		},
		NoSignal: map[string]string{
			"slow-down":        "Anthropic knows 429 and 529 alone",
			"budget-in-flight": "its 402 is an account without money",
			"moderation":       "its 403 is a matter of permissions",
		},
	})
}

// What is sent to /v1/messages is what the types of Anthropic's SDK describe, and nothing else: the API refuses fields that it does
// not know.
func TestRequestsAreAsPublished(t *testing.T) {
	d := adaptertest.Published(t, "messages.json", "MessageCreateParamsBase", "*.json")
	require.ErrorContains(t, d.Check([]byte(`{"model":"m","max_completion_tokens":7,"messages":[]}`)), "max_completion_tokens")
}

// Anthropic's own types know each field of what is sent, and lose none of it.
func TestRequestsAreOfAnthropicsTypes(t *testing.T) {
	for _, pattern := range []string{"request/*.json", "option/*.json"} {
		paths, err := filepath.Glob(filepath.Join("testdata", pattern))
		require.NoError(t, err)
		require.NotEmpty(t, paths, pattern)
		for _, path := range paths {
			if filepath.Base(path) == "extra.json" { // its fields are the config's
				continue
			}
			sent, err := os.ReadFile(path)
			require.NoError(t, err)
			var body map[string]any
			require.NoError(t, json.Unmarshal(sent, &body), path)
			delete(body, "stream") // which the client adds
			want, err := json.Marshal(body)
			require.NoError(t, err)
			var params sdk.MessageNewParams
			require.NoError(t, json.Unmarshal(want, &params), path)
			got, err := json.Marshal(params)
			require.NoError(t, err, path)
			assert.JSONEq(t, string(want), string(got), path)
		}
	}
}
