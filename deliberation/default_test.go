package deliberation_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/provider/scripted"
)

// TestDefaults: the normalized config of a deliberation has the documented numbers.
func TestDefaults(t *testing.T) {
	engine, _ := engineFor(nil)
	tool, err := flow.NewTool(flow.ToolInfo{Description: "notes", ReadOnly: true}, func(context.Context, flow.ToolUse, struct{}) (string, error) { return "", nil })
	require.NoError(t, err)
	engine.Tools = map[string]flow.Tool{"note": tool}
	config := three()
	config.Rounds, config.Tools, config.Clarification.On = 0, []string{"note"}, true
	start, err := kernel.Of(t, engine).Freeze(config)
	require.NoError(t, err)
	normalized, ok := start.Config.Go.(*deliberation.Config)
	require.True(t, ok)
	assert.Equal(t, 3, normalized.Rounds)
	assert.Equal(t, 3, normalized.Clarification.Iterations)
	assert.Equal(t, 5, normalized.Clarification.Questions)
	assert.Equal(t, 10, normalized.ToolCalls)
	assert.InDelta(t, 0.3, *normalized.Judge.Temperature, 0)
}

// TestTheJudgeIsAskedAtALowerTemperature than the agents, with the words of its prompt, by a provider of its own.
func TestTheJudgeIsAskedAtALowerTemperature(t *testing.T) {
	config := three()
	config.Judge.Model, config.Judge.Prompt = "other/judge", "You are a patient arbiter."
	engine, p := engineFor(nil)
	other := &scripted.Provider{Reply: script(nil), Record: true}
	engine.Providers["other"] = other
	r := play(t, engine, config)
	assert.Equal(t, flow.StateCompleted, r.State)
	require.NotEmpty(t, other.Requests())
	for _, req := range other.Requests() {
		assert.InDelta(t, 0.3, *req.Temperature, 0)
		assert.Contains(t, req.System, "You are a patient arbiter.")
	}
	for _, req := range p.Requests() {
		assert.Greater(t, *req.Temperature, 0.3)
		assert.NotContains(t, req.System, "patient arbiter")
	}
}
