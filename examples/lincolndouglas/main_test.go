package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/examples/internal/stage"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

func TestTheDebateReadsAsItShould(t *testing.T) {
	engine, model := stage.Choose(func(string) string { return "" }, script())
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), stage.Printer{Out: &out}, engine, model))
	golden := filepath.Join("testdata", "debate.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, out.Bytes(), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), out.String())
	assert.Contains(t, out.String(), "total                             6.95    7.00", "the weighted sums of the marks")
	for line := range strings.Lines(out.String()) {
		assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
	}
}
