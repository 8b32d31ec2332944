package google_test

import (
	"testing"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/google"
	"github.com/agonist-dev/debate/provider/providertest"
)

func TestFaults(t *testing.T) {
	h := providertest.HTTP{
		Connect: func(_ testing.TB, s providertest.Server) provider.Provider {
			p := google.New(s.Key)
			p.BaseURL, p.Client = s.URL, s.Client
			p.IdleTimeout, p.MaxBody, p.MaxLine = s.IdleTimeout, s.MaxBody, s.MaxLine
			return p
		},
		Wholes: providertest.Wholes(t, "testdata/whole"),
		Faults: providertest.Faults(t, "testdata/fault"),
		Lacks: map[string]string{
			"slow-down":        "a load that rises too fast gets the same RESOURCE_EXHAUSTED as any other",
			"budget-in-flight": "the vendor takes no budget in advance",
			"window-exceeded":  "a reply that fills the window ends with MAX_TOKENS",
			"refusal":          "a model that declines says so in its text",
		},
	}
	providertest.RunHTTP(t, h)
	golden(t, "table.golden", h.Table())
}
