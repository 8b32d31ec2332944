package deliberation_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A tool and a synthesizer of the host program's own read the turns without thoughts, models and costs.
func TestToolsAndSynthesizersReadNoThoughts(t *testing.T) {
	var mu sync.Mutex // two uses of the tool may be made at once
	var read []*flow.Turn
	look, err := flow.NewTool(flow.ToolInfo{Description: "looks", ReadOnly: true}, func(_ context.Context, use flow.ToolUse, _ struct{}) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		read = append(read, use.Turns...)
		return "seen", nil
	})
	require.NoError(t, err)
	config := three()
	config.Agents[0].Tools = &[]string{"look"}
	config.Synthesis, config.Synthesizer = deliberation.SynthesisRegistered, "own"
	engine, p := engineFor(nil)
	engine.Tools = map[string]flow.Tool{"look": look}
	merged := 0
	engine.Functions = map[string]flow.Function{"own": deliberation.SynthesizerFunc(
		func(_ context.Context, task deliberation.SynthesisTask) (*deliberation.Solution, error) {
			merged++
			read = append(read, task.Turns...)
			s := solution("All of it.")
			return &s, nil
		})}
	stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
		if len(req.Tools) > 0 && (len(req.Messages) == 0 || req.Messages[len(req.Messages)-1].ToolResult == nil) {
			r.Calls = []provider.ToolCall{{ID: "1", Name: "look", Arguments: json.RawMessage(`{}`)}}
		}
		r.Reasoning = "A thought of mine."
	})
	record := play(t, engine, config)
	assert.Positive(t, merged)
	assert.Greater(t, len(read), len(record.Turns), "tools have read turns too")
	for _, turn := range read {
		assert.NotEmpty(t, turn.Text)
		assert.Empty(t, turn.Reasoning)
		assert.Equal(t, flow.Spend{Call: turn.Call, Attempt: turn.Attempt}, turn.Spend)
	}
	for _, turn := range record.Turns {
		if turn.Model != "" {
			assert.Equal(t, "A thought of mine.", turn.Reasoning)
		}
	}
}
