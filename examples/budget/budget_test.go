package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheScriptShowsWhatItPromises(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, func(string) string { return "" }))
	text := out.String()
	last := -1
	for _, want := range []string{
		"At most: 25 calls, ", "The budget: a warning at $", "Round 1, Ada: ", "Acknowledged: the debate goes on.",
		"The rounds end (soft-limit), and the judge gives the verdict.", "The judge is for Ben.",
		"demo/gpt-4.1-mini", "  Ada ", "  Ben ", "  judge ", "  round 1 ", "  all ",
	} {
		at := strings.Index(text, want)
		require.Greater(t, at, last, "%q, in its place, in:\n%s", want, text)
		last = at
	}
	assert.NotContains(t, text, "Round 12")
	assert.Equal(t, 1, strings.Count(text, "Acknowledged"))
}

func TestAModelIsFoundByItsKey(t *testing.T) {
	for key, want := range map[string]string{
		"OPENAI_API_KEY": "openai/gpt-4.1-mini", "OPENROUTER_API_KEY": "openrouter/openai/gpt-4.1-mini",
		"MISTRAL_API_KEY": "mistral/mistral-small-latest", "NO_KEY": "demo/gpt-4.1-mini",
	} {
		engine, model := choose(func(name string) string {
			if name == key {
				return "k"
			}
			return ""
		})
		assert.Equal(t, want, model)
		host, _, _ := strings.Cut(want, "/")
		assert.Contains(t, engine.Providers, host)
	}
}
