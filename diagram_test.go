package debate_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/stage"
)

// block yields the text of the README's only code block in the given language, and what is around it.
func block(t *testing.T, language string) (before, text, after string) {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(readme), "```"+language+"\n")
	require.True(t, ok, "the README has no block of %s", language)
	text, after, ok = strings.Cut(rest, "```\n")
	require.True(t, ok)
	return before, text, after
}

func TestTheReadmeShowsTheMachineAsItIs(t *testing.T) {
	before, drawn, after := block(t, "mermaid")
	want := debate.DebateFlow().Mermaid()
	if stage.Update() {
		require.NoError(t, os.WriteFile("README.md", []byte(before+"```mermaid\n"+want+"```\n"+after), 0o600))
		drawn = want
	}
	assert.Equal(t, want, drawn, "rewrite it with -update")
}
