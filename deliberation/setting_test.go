package deliberation_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
)

// Settings reach the requests of those whom they are for, and nobody else's.
func TestSettingsReachTheRequests(t *testing.T) {
	config := three()
	config.MaxTokens, config.Temperature = 700, new(0.6)
	config.Agents[1].MaxTokens, config.Agents[1].Temperature = 800, new(0.0)
	config.Judge.MaxTokens, config.Judge.Temperature = 900, new(0.1)
	engine, p := engineFor(nil)
	play(t, engine, config)
	for _, req := range p.Requests() {
		tokens, temperature := 700, 0.6
		switch req.Self {
		case "ben":
			tokens, temperature = 800, 0
		case "judge":
			tokens, temperature = 900, 0.1
		}
		assert.Equal(t, tokens, req.MaxTokens, req.ID)
		require.NotNil(t, req.Temperature, req.ID)
		assert.InDelta(t, temperature, *req.Temperature, 1e-9, req.ID)
	}

	engine, p = engineFor(nil)
	play(t, engine, three())
	for _, req := range p.Requests() {
		want := 0.5
		if req.Self == "judge" {
			want = 0.3
		}
		assert.InDelta(t, want, *req.Temperature, 1e-9, "%s, by default", req.ID)
	}
}

// ToolCalls is how often an agent may use tools in a phase, ten times unless it is set.
func TestToolCallsReachTheCalls(t *testing.T) {
	look, err := flow.NewTool(flow.ToolInfo{Description: "looks", ReadOnly: true}, func(context.Context, flow.ToolUse, struct{}) (string, error) { return "", nil })
	require.NoError(t, err)
	for set, want := range map[int]int{0: 10, 3: 3} {
		config := three()
		config.Tools, config.ToolCalls = []string{"look"}, set
		engine, _ := engineFor(nil)
		engine.Tools = map[string]flow.Tool{"look": look}
		r := play(t, engine, config)
		for _, e := range events(t, engine, r.ID) {
			if body.As[flow.Intent](e) != nil && body.As[flow.Intent](e).Offer != nil {
				assert.Equal(t, want, body.As[flow.Intent](e).Offer.Uses, body.As[flow.Intent](e).Call)
			}
		}
	}
}

// Two agents who rank each other first, and nobody else who votes: whoever stands first in the config has won.
func TestATiedVoteGoesToTheFirst(t *testing.T) {
	for _, first := range []int{0, 1} {
		config := three()
		config.Agents = config.Agents[:2]
		config.Agents[0], config.Agents[1] = config.Agents[first], config.Agents[1-first]
		config.Judge, config.Synthesis, config.Rounds = deliberation.Judge{}, deliberation.SynthesisVoting, 1
		engine, _ := engineFor(nil)
		_, by, ok := solved(play(t, engine, config))
		require.True(t, ok)
		assert.Equal(t, config.Agents[0].ID, by)
	}
}
