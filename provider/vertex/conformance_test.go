package vertex_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/providertest"
	"github.com/agonist-dev/debate/provider/vertex"
)

// place is where the models of these tests are.
const place = "projects/debates/locations/global"

var failure = adaptertest.Failure

func TestConformance(t *testing.T) {
	for name, connect := range map[string]providertest.Connect{"gemini": gemini, "claude": claude} {
		t.Run(name, func(t *testing.T) {
			providertest.Run(t, connect)
			providertest.RunAbilities(t, connect)
			providertest.RunThoughts(t, connect)
		})
	}
}

func gemini(t *testing.T, s providertest.Scenario) provider.Provider {
	t.Helper()
	if s.Stop == provider.StopRefusal {
		t.Skip("a model that declines says so in its text")
	}
	server := httptest.NewServer(adaptertest.Gemini{Scenario: s, Vertex: place})
	t.Cleanup(server.Close)
	return at(server.URL, s.Key, server.Client())
}

func claude(t *testing.T, s providertest.Scenario) provider.Provider {
	t.Helper()
	server := httptest.NewServer(adaptertest.Claude{Scenario: s, Vertex: place})
	t.Cleanup(server.Close)
	return at(server.URL, s.Key, server.Client()).Claude
}

// at returns a provider for a server, with a token.
func at(url, token string, client *http.Client) *vertex.Provider {
	p := vertex.New("debates", "global", provider.StaticKey(token))
	p.Gemini.BaseURL, p.Claude.BaseURL = url, url
	p.Gemini.Client, p.Claude.Client = client, client
	return p
}

// TestFaults plays answers of both vendors, each to its adapter.
func TestFaults(t *testing.T) {
	h := providertest.HTTP{
		Connect: func(_ testing.TB, s providertest.Server) provider.Provider {
			p := at(s.URL, s.Key, s.Client)
			p.Gemini.IdleTimeout, p.Gemini.MaxBody, p.Gemini.MaxLine = s.IdleTimeout, s.MaxBody, s.MaxLine
			p.Claude.IdleTimeout, p.Claude.MaxBody, p.Claude.MaxLine = s.IdleTimeout, s.MaxBody, s.MaxLine
			if s.Vendor == "vertex-claude" {
				return p.Claude
			}
			return p
		},
		Wholes: providertest.Wholes(t, "testdata/whole"),
		NoSignal: map[string]string{
			"slow-down":        "a load that rises too fast gets the same RESOURCE_EXHAUSTED as any other",
			"budget-in-flight": "Google Cloud bills afterwards",
		},
	}
	// The first whole answer is played where a check needs just one.
	h.Wholes = append(h.Wholes[1:], h.Wholes[0])
	require.Equal(t, "vertex", h.Wholes[0].Vendor)
	adaptertest.Faults(t, h)
}
