package command_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/cmd/debate/internal/command"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// TestATableBreaksNoWord: what does not fit a terminal stands on several lines.
func TestATableBreaksNoWord(t *testing.T) {
	const topic = "Design a rate limiter for a public API with tenants"
	write := func(width int, rows ...[]any) string {
		var out bytes.Buffer
		require.NoError(t, command.Table(&out, width, rows...))
		return out.String()
	}
	about := [][]any{{"State", "failed"}, {"Topic", topic}}
	assert.Equal(t, "State  failed\nTopic  "+topic+"\n", write(0, about...))
	assert.Equal(t, "State  failed\nTopic  Design a rate limiter for a\n       public API with tenants\n", write(40, about...))
	who := [][]any{{"WHO", "MODEL", "TURNS", "COST"}, {"ada", "openai/gpt-4.1-mini", 2, "$0.02, and up to $0.04"}, {"ben"}}
	assert.Equal(t, "WHO  MODEL                TURNS  COST\nada  openai/gpt-4.1-mini  2      $0.02, and up\n"+
		strings.Repeat(" ", 33)+"to $0.04\nben\n", write(46, who...))
	assert.Equal(t, "ada\n  model openai/gpt-4.1-mini; turns 2;\n  cost $0.02, and up to $0.04\nben\n", write(40, who...))
}

// TestAListInASmallWindow: the topic is what one looks for.
func TestAListInASmallWindow(t *testing.T) {
	info := store.Info{
		ID: "01a22ce0-0f9e-7de0-a5c3-000012345678", Flow: "debate", State: flow.StateAwaitingInput, Topic: "Design a rate limiter",
		Spent: 2_000_000, Unsettled: flow.Unsettled{AtMost: 2_989_000_000, BrokenOff: 1},
	}
	for width, want := range map[int]string{40: "12345678  waits  Design a rate limiter\n", 80: "+  Design a rate limiter\n"} {
		var out bytes.Buffer
		require.NoError(t, command.ListTable(&out, width, info))
		assert.Contains(t, out.String(), want)
		for line := range strings.Lines(out.String()) {
			assert.LessOrEqual(t, ansi.StringWidth(line), width)
		}
	}
}
