package main

import (
	"bytes"
	"context"
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

func none(string) string { return "" }

func TestTheDebateReadsAsItShould(t *testing.T) {
	engine, model := stage.Choose(none, script())
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), stage.Printer{Out: &out}, engine, model))
	golden := filepath.Join("testdata", "debate.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, out.Bytes(), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), out.String())
	assert.Contains(t, out.String(), "The side against the motion wins", "it has fewer votes, and has gained more")
	for line := range strings.Lines(out.String()) {
		assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
	}
}

func TestAnInterruptEndsIt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	engine, model := stage.Choose(none, script())
	var out bytes.Buffer
	require.ErrorIs(t, run(ctx, stage.Printer{Out: &out}, engine, model), context.Canceled)
}
