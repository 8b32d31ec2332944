package adaptertest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider/providertest"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// Golden compares a text with a file under testdata.
func Golden(t testing.TB, path, got string) {
	t.Helper()
	path = filepath.Join("testdata", path)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "make it with -update")
	assert.Equal(t, string(want), got)
}

// Indented returns a JSON document so that a person can read it, with one newline at its end.
func Indented(t testing.TB, data []byte) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, json.Indent(&b, data, "", "  "), "%s", data)
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// Published requires that the requests in files of testdata/request are what the vendor publishes in a file of testdata/published, and
// have no other fields. It returns the description.
func Published(t *testing.T, file, name string, patterns ...string) *providertest.Description {
	t.Helper()
	d, err := providertest.ReadDescription(filepath.Join("testdata", "published", file), name)
	require.NoError(t, err)
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join("testdata", "request", pattern))
		require.NoError(t, err)
		require.NotEmpty(t, paths, pattern)
		for _, path := range paths {
			body, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.NoError(t, d.Check(body), path)
		}
	}
	return d
}

// Faults runs [providertest.RunHTTP], and compares the fault table and the evidence with their golden files. If h has no fixtures, they
// are those under testdata. Each fixture says where it is from, unless its name is among these.
func Faults(t *testing.T, h providertest.HTTP, sourceless ...string) {
	t.Helper()
	h.Long = longform.Asked()
	if h.Wholes == nil {
		h.Wholes = providertest.Wholes(t, "testdata/whole")
	}
	if h.Faults == nil {
		h.Faults = providertest.Faults(t, "testdata/fault")
	}
	providertest.RunHTTP(t, h)
	Golden(t, "table.golden", h.Table())
	Golden(t, "evidence.golden", h.Evidence(t))
	for _, f := range h.Faults {
		assert.NotEmpty(t, f.Source.Origin, "%s does not say where it is from", f.Name)
	}
	for _, w := range h.Wholes {
		if w.Source.Origin == "" {
			assert.Contains(t, sourceless, w.Name, "it does not say where it is from")
		}
	}
}
