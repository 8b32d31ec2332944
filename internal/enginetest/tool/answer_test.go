package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// What tools have answered is reserved for like all that is sent.
func TestAnswersOfToolsAreReservedFor(t *testing.T) {
	tool, err := flow.NewTool(flow.ToolInfo{Description: "tells much", ReadOnly: true}, func(context.Context, flow.ToolUse, struct{}) (string, error) {
		return strings.Repeat("word ", 5_000), nil
	})
	require.NoError(t, err)
	p := stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", "add", `{}`)})
	p.Reply = closing(p.Reply, "Done.")
	engine := stage.WorkshopEngine(p, 5, map[string]debate.Tool{"add": tool})
	l := stage.LogOf(t, engine, stage.Run(t, engine, stage.InFlow(engine, stage.ToolUsers())).ID)
	bounds := make(map[int]int)
	for _, e := range l.Events {
		if body.As[flow.Intent](e) != nil && body.As[flow.Intent](e).Call == "work.Ada" {
			bounds[body.As[flow.Intent](e).Attempt] = body.As[flow.Intent](e).Bound
		}
	}
	assert.Greater(t, bounds[2], bounds[1]+25_000)
}

// The budget holds nobody back from using a tool: what it answers is what costs.
func TestABudgetAndTools(t *testing.T) {
	c := &stage.Tally{}
	p := stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", "add", `{"a":1,"b":2}`)})
	engine := stage.WorkshopEngine(p, 5, map[string]debate.Tool{"add": c.Tool(t, false)})
	config := stage.ToolUsers()
	config.Budget = &debate.Budget{HardCalls: 5}
	record := stage.Run(t, engine, stage.InFlow(engine, config))
	assert.Len(t, record.Turns, 2)
	assert.Len(t, c.Times, 2)
	assert.Equal(t, 4, record.Spent().Requests)
}

func TestLongAnswersOfToolsAreCut(t *testing.T) {
	tool, err := flow.NewTool(flow.ToolInfo{Description: "tells much", ReadOnly: true}, func(context.Context, flow.ToolUse, struct{}) (string, error) {
		return strings.Repeat("word ", 100_000), nil
	})
	require.NoError(t, err)
	p := stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", "add", `{}`)})
	engine := stage.WorkshopEngine(p, 5, map[string]debate.Tool{"add": tool})
	record := stage.Run(t, engine, stage.InFlow(engine, stage.ToolUsers()))
	require.NotEmpty(t, record.ToolUses)
	assert.True(t, record.ToolUses[0].Cut)
	assert.LessOrEqual(t, len(record.ToolUses[0].Text), 32<<10)
	requests := p.Requests()
	last := requests[len(requests)-1].Messages
	assert.Contains(t, last[len(last)-1].ToolResult.Text, "the answer was longer, and is cut here")
}

// What tools answer has half of a window, the newest first: nobody fails because tools have said much.
func TestAnswersOfToolsFitTheWindow(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"large": 128_000, "small": 12_000} {
		if size > 100_000 && longform.Fewer() > 1 {
			continue // to count so many tokens takes long with the race detector
		}
		t.Run(name, func(t *testing.T) {
			tool, err := flow.NewTool(flow.ToolInfo{Description: "tells much", ReadOnly: true}, func(context.Context, flow.ToolUse, struct{}) (string, error) {
				return strings.Repeat("nine words that are about as long as this ", 740), nil
			})
			require.NoError(t, err)
			one := []provider.ToolCall{stage.ToolCall("1", "add", `{}`)}
			p := stage.ToolAsker(one, one, one, one, one, one, one, one, one)
			p.Reply = closing(p.Reply, "Done.")
			engine := stage.WorkshopEngine(p, 10, map[string]debate.Tool{"add": tool})
			engine.Models = map[string]debate.Model{"test/debater": {Window: size}}
			config := stage.ToolUsers()
			config.MaxTokens = 1000
			record := stage.Run(t, engine, stage.InFlow(engine, config))
			require.Len(t, record.Turns, 2, "nobody has failed")
			requests := p.Requests()
			last := requests[len(requests)-1].Messages
			if size > 100_000 {
				assert.NotContains(t, last[len(last)-1].ToolResult.Text, "is cut here", "the newest is whole")
			}
			assert.Contains(t, last[2].ToolResult.Text, "is cut here")
		})
	}
}

// Nor does anybody fail because the arguments of the uses before were long, such as the files that were written.
func TestArgumentsOfToolsFitTheWindow(t *testing.T) {
	t.Parallel()
	tool, err := flow.NewTool(flow.ToolInfo{Description: "writes", ReadOnly: true},
		func(context.Context, flow.ToolUse, struct{ Text string }) (string, error) { return "written", nil })
	require.NoError(t, err)
	arguments := stage.JSON(map[string]string{"Text": strings.Repeat("one line of a file\n", 420)}) // 8 kB
	one := []provider.ToolCall{stage.ToolCall("1", "add", arguments)}
	p := stage.ToolAsker(one, one, one, one, one, one, one, one, one)
	p.Reply = closing(p.Reply, "Done.")
	engine := stage.WorkshopEngine(p, 10, map[string]debate.Tool{"add": tool})
	engine.Models = map[string]debate.Model{"test/debater": {Window: 12_000}}
	config := stage.ToolUsers()
	config.MaxTokens = 1000
	record := stage.Run(t, engine, stage.InFlow(engine, config))
	require.Len(t, record.Turns, 2, "nobody has failed")
	requests := p.Requests()
	last := requests[len(requests)-1].Messages
	var first, newest struct{ Text string }
	require.NoError(t, json.Unmarshal(last[1].ToolCalls[0].Arguments, &first))
	require.NoError(t, json.Unmarshal(last[len(last)-2].ToolCalls[0].Arguments, &newest))
	assert.Contains(t, first.Text, "cut here")
	assert.NotContains(t, newest.Text, "cut here", "the newest is whole")
}

// closing says this where nothing is asked of tools.
func closing(reply func(*provider.Request) scripted.Reply, text string) func(*provider.Request) scripted.Reply {
	return func(req *provider.Request) scripted.Reply {
		r := reply(req)
		if len(r.Calls) == 0 {
			r.Text = text
		}
		return r
	}
}

// TestThoughtsAreCountedAsText: what a model gets back with a call takes as much of its window as text does, and not a
// token for each byte.
func TestThoughtsAreCountedAsText(t *testing.T) {
	thoughts, err := json.Marshal(map[string]string{"vendor": "test", "reasoning_content": strings.Repeat("The sum of the two numbers is to be found. ", 400)})
	require.NoError(t, err)
	call := stage.ToolCall("1", "add", `{"a":1,"b":2}`)
	call.Opaque = thoughts // 17,000 bytes, 4,000 tokens
	p := stage.ToolAsker([]provider.ToolCall{call})
	engine := stage.WorkshopEngine(p, 5, map[string]debate.Tool{"add": (&stage.Tally{}).Tool(t, true)})
	engine.Models = map[string]debate.Model{"test/debater": {Window: 14_000}}
	record := stage.Run(t, engine, stage.InFlow(engine, stage.ToolUsers()))
	assert.Equal(t, flow.StateCompleted, record.State)
	require.Len(t, record.Turns, 2)
	assert.Contains(t, record.Turns[0].Text, "3")
}
