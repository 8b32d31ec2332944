package google_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/internal/longform"
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
		Long:   longform.Asked(),
		NoSignal: map[string]string{
			"slow-down":        "a load that rises too fast gets the same RESOURCE_EXHAUSTED as any other",
			"budget-in-flight": "the vendor takes no budget in advance",
			"window-exceeded":  "a reply that fills the window ends with MAX_TOKENS",
			"refusal":          "a model that declines says so in its text",
		},
	}
	providertest.RunHTTP(t, h)
	golden(t, "table.golden", h.Table())
	golden(t, "evidence.golden", h.Evidence(t))
	for _, f := range h.Faults {
		assert.NotEmpty(t, f.Source.Origin, "%s does not say where it is from", f.Name)
	}
	for _, w := range h.Wholes {
		assert.NotEmpty(t, w.Source.Origin, "%s does not say where it is from", w.Name)
	}
}
