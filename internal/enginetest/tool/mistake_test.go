package tool_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// Whatever goes wrong with a use is a result that the model reads, for each sort of tool: the conversation goes on. Only the outcome
// of a use that has taken too long is decided about.
func TestWhateverGoesWrongWithAUseIsAResult(t *testing.T) {
	answers := func(context.Context, flow.ToolUse, struct{}) (string, error) { return "done", nil }
	for name, c := range map[string]struct {
		tool, arguments string
		run             func(context.Context, flow.ToolUse, struct{}) (string, error)
		want            string
	}{
		"unknown tool":    {"sing", `{}`, answers, "There is no tool of this name."},
		"arguments":       {"add", `{"a":1}`, answers, "the arguments are wrong"},
		"no JSON":         {"add", `{`, answers, "The arguments are no JSON"},
		"panic":           {"add", `{}`, func(context.Context, flow.ToolUse, struct{}) (string, error) { broken(nil); return "", nil }, "has broken down"},
		"goroutine ended": {"add", `{}`, func(context.Context, flow.ToolUse, struct{}) (string, error) { runtime.Goexit(); return "", nil }, "has ended its goroutine"},
		"time-out": {"add", `{}`, func(ctx context.Context, _ flow.ToolUse, _ struct{}) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}, "no reply in time"},
	} {
		for sort, info := range map[string]flow.ToolInfo{"read-only": {ReadOnly: true}, "idempotent": {Idempotent: true}, "neither": {}} {
			t.Run(name+", "+sort, stage.Bubbled(func(t *testing.T) {
				tool, err := flow.NewTool(info, c.run)
				require.NoError(t, err)
				p := stage.AdaAlone(stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", c.tool, c.arguments)}))
				engine := stage.WorkshopEngine(p, 5, map[string]debate.Tool{"add": tool})
				config := stage.ToolUsers()
				config.Unattended = true
				record := stage.Run(t, engine, stage.InFlow(engine, config))
				assert.Contains(t, adaSaid(t, record), c.want)
				unknown := name == "time-out" && sort == "neither"
				assert.Equal(t, unknown, len(record.Answers) == 1)
				taken, _ := record.CallUsage("work.Ada")
				require.Len(t, taken.Uses, 1)
				assert.True(t, taken.Uses[0].Failed)
				assert.Equal(t, unknown, taken.Uses[0].Unknown)
				assert.Equal(t, unknown, strings.Contains(taken.Uses[0].Text, "Nobody knows"), "the words and the flag agree")
				if len(record.ToolUses) > 0 {
					assert.Equal(t, unknown, record.ToolUses[0].Unknown)
				}
			}))
		}
	}
}
