package vertex_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// golden compares got with a file under testdata.
func golden(t *testing.T, path, got string) {
	t.Helper()
	path = filepath.Join("testdata", path)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "make it with -update")
	assert.Equal(t, string(want), got)
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
		Faults: providertest.Faults(t, "testdata/fault"),
		Long:   longform.Asked(),
		NoSignal: map[string]string{
			"slow-down":        "a load that rises too fast gets the same RESOURCE_EXHAUSTED as any other",
			"budget-in-flight": "Google Cloud bills afterwards",
		},
	}
	// The first whole answer is played where a check needs just one.
	h.Wholes = append(h.Wholes[1:], h.Wholes[0])
	require.Equal(t, "vertex", h.Wholes[0].Vendor)
	providertest.RunHTTP(t, h)
	golden(t, "table.golden", h.Table())
	golden(t, "evidence.golden", h.Evidence(t))
}
