package tool_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// What tools say of themselves and of failures, and how models call them, reaches models and the log without what controls a
// terminal. What they answer reaches both unchanged.
func TestWhatToolsSayIsPrintable(t *testing.T) {
	const loud = "\x1b[2J\x1b]0;title\a\x00one\r\n\ttwo\u202e\u009b\x7f"
	for name, tc := range map[string]struct {
		fails bool
		want  string
	}{
		"an answer": {false, loud},
		"an error":  {true, "[2J]0;titleone\r\n\ttwo"},
	} {
		t.Run(name, func(t *testing.T) {
			tool, err := flow.NewTool(flow.ToolInfo{Description: "adds\n" + loud, ReadOnly: true},
				func(context.Context, flow.ToolUse, stage.Sum) (string, error) {
					if tc.fails {
						return "", errors.New(loud)
					}
					return loud, nil
				})
			require.NoError(t, err)
			p := stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", "add", `{"a":1,"b":2}`), stage.ToolCall("2", "sub\n\x1b[31mtract", `{}`)})
			engine := stage.WorkshopEngine(p, 5, map[string]debate.Tool{"add": tool})
			l := stage.LogOf(t, engine, stage.Run(t, engine, stage.InFlow(engine, stage.ToolUsers())).ID)
			answers := 0
			for _, e := range l.Events {
				if start := body.As[flow.Start](e); start != nil {
					assert.Equal(t, "adds\n[2J]0;titleone\r\n\ttwo", start.Tools["add"].Description)
				}
				if asked := body.As[flow.ToolCalls](e); asked != nil {
					require.Len(t, asked.Uses, 2)
					assert.Equal(t, "sub  [31mtract", asked.Uses[1].Name)
					assert.NotEmpty(t, asked.Uses[1].Denied)
				}
				if result := body.As[flow.ToolResult](e); result != nil {
					answers++
					assert.Equal(t, tc.want, result.Text)
				}
			}
			assert.Equal(t, 2, answers)
			for _, req := range p.Requests() {
				for _, offered := range req.Tools {
					assert.NotContains(t, offered.Description, "\x1b")
				}
				for _, m := range req.Messages {
					if m.ToolResult != nil && !m.ToolResult.Error {
						assert.Contains(t, m.ToolResult.Text, loud)
					}
				}
			}
		})
	}
}
