package google_test

import (
	"net/http/httptest"
	"testing"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/google"
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
	if s.Stop == provider.StopRefusal {
		t.Skip("a model that declines says so in its text")
	}
	server := httptest.NewServer(adaptertest.Gemini{Scenario: s})
	t.Cleanup(server.Close)
	p := google.New(s.Key)
	p.BaseURL, p.Client = server.URL, server.Client()
	return p
}

func TestFaults(t *testing.T) {
	adaptertest.Faults(t, providertest.HTTP{
		Connect: func(_ testing.TB, s providertest.Server) provider.Provider {
			p := google.New(s.Key)
			p.BaseURL, p.Client = s.URL, s.Client
			p.IdleTimeout, p.MaxBody, p.MaxLine = s.IdleTimeout, s.MaxBody, s.MaxLine
			return p
		},
		NoSignal: map[string]string{
			"slow-down":        "a load that rises too fast gets the same RESOURCE_EXHAUSTED as any other",
			"budget-in-flight": "the vendor takes no budget in advance",
			"window-exceeded":  "a reply that fills the window ends with MAX_TOKENS",
			"refusal":          "a model that declines says so in its text",
		},
	})
}

// What is sent to Gemini is what Google publishes as Protocol Buffers, and nothing else: the API refuses
// fields that it does not know.
func TestRequestsAreAsPublished(t *testing.T) {
	adaptertest.Published(t, "gemini.json", "GenerateContentRequest", "*.json")
}
