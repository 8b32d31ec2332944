package arbiter_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
)

// A function and a person have no system prompt: they read the host's words with the situation. A model reads them there only.
func TestWhoDecidesReadsThePrompt(t *testing.T) {
	const words = "Prefer short plans."
	engine, _ := engineFor(nil)
	var read string
	engine.Functions = map[string]flow.Function{"rule": arbiter.Func(func(_ context.Context, s arbiter.Situation) (arbiter.Ruling, error) {
		read = s.Instruction
		if len(s.Executions) > 0 {
			return completes("Done."), nil
		}
		return picks("Ada"), nil
	})}
	c := config()
	c.Arbiter = arbiter.Arbiter{Function: "rule", Prompt: words}
	worked(t, engine, c)
	assert.Contains(t, read, words)

	h := byHand(t, func(c *arbiter.Config) {
		c.Unattended, c.Arbiter = false, arbiter.Arbiter{Person: true, Prompt: words}
	})
	assert.Contains(t, h.Record().Inquiries[0].Question, words)

	h = byHand(t, func(c *arbiter.Config) { c.Arbiter.Prompt = words })
	assert.NotContains(t, h.Prompt("d1"), words)
}

// TestThePromptStandsBehindTheRules: so the host's words can say otherwise, also about the language.
func TestThePromptStandsBehindTheRules(t *testing.T) {
	c := config()
	c.Arbiter.Prompt, c.Agents[0].Prompt, c.Agents[1].Prompt = "Write in French.", "Write in French.", "Write in French."
	for _, req := range askedInWork(t, c) {
		_, behind, ok := strings.Cut(req.System, "Write in the language of the task")
		require.True(t, ok, req.ID)
		assert.Contains(t, behind, "Write in French.", req.ID)
	}
}
