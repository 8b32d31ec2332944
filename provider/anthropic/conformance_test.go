package anthropic_test

import (
	"net/http/httptest"
	"testing"

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
