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
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

func none(string) string { return "" }

func TestTheDebateReadsAsItShould(t *testing.T) {
	engine, model := choose(none)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), printer{&out}, engine, model))
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
	engine, model := choose(none)
	var out bytes.Buffer
	require.ErrorIs(t, run(ctx, printer{&out}, engine, model), context.Canceled)
}

func TestAModelIsFoundByItsKey(t *testing.T) {
	for _, test := range []struct {
		set  map[string]string
		want string
	}{
		{nil, "script/without-a-key"},
		{map[string]string{"OPENAI_API_KEY": "k"}, "openai/gpt-4.1-mini"},
		{map[string]string{"OPENROUTER_API_KEY": "k"}, "openrouter/openai/gpt-4.1-mini"},
		{map[string]string{"MISTRAL_API_KEY": "k"}, "mistral/mistral-small-latest"},
		{map[string]string{"OPENAI_BASE_URL": "http://localhost:1/v1", "OPENAI_MODEL": "llama:8b"}, "local/llama:8b"},
	} {
		engine, model := choose(func(name string) string { return test.set[name] })
		assert.Equal(t, test.want, model)
		host, _, _ := strings.Cut(model, "/")
		assert.Contains(t, engine.Providers, host)
	}
}

func TestNothingOfAModelControlsTheTerminal(t *testing.T) {
	var out bytes.Buffer
	printer{&out}.speak("  ", "red \x1b[31malert\x07\u202e and\r\nmore"+strings.Repeat(" long", 20))
	assert.Equal(t, "  red [31malert and more"+strings.Repeat(" long", 11)+"\n  long"+strings.Repeat(" long", 8)+"\n", out.String())
}
