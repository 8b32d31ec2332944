package arbiter_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A fork of work, which is also its reset, says that the folder is not as it was then. What was done before the cut is not done
// again.
func TestAForkOfWorkSaysThatNothingWasRolledBack(t *testing.T) {
	written := 0
	tool, err := flow.NewTool(flow.ToolInfo{Description: "writes a line"}, func(context.Context, flow.ToolUse, struct{}) (string, error) {
		written++
		return "written", nil
	})
	require.NoError(t, err)
	uses := func(req *provider.Request) scripted.Reply {
		for _, m := range req.Messages {
			if m.ToolResult != nil {
				return scripted.Reply{Text: usual(req)}
			}
		}
		return scripted.Reply{Calls: []provider.ToolCall{{ID: "1", Name: "note", Arguments: json.RawMessage(`{}`)}}}
	}
	engine, _ := engineFor(answers{"r1.Ada": uses, "r2.Ben": uses})
	engine.Tools = map[string]debate.Tool{"note": tool}
	c := config()
	c.Agents[0].Tools, c.Agents[1].Tools = []string{"note"}, []string{"note"}
	original, err := engine.Start(t.Context(), c)
	require.NoError(t, err)
	ended := stage.Ended(t, original)
	require.NoError(t, original.Close())
	w, ok := arbiter.Of(ended)
	require.True(t, ok)
	require.Equal(t, 2, written)
	assert.Empty(t, w.Warnings)
	var second int64 // the arbiter's second decision
	for event, err := range engine.Events(t.Context(), w.ID, 0) {
		require.NoError(t, err)
		if d, ok := event.Body.(*arbiter.Decision); ok && d.Call == "d2" {
			second = event.Seq
		}
	}
	for cut, want := range map[int64]struct {
		warning string
		written int
	}{
		0:      {"since its beginning (note 2)", 2},
		second: {"(note 1): what they have changed was not rolled back", 1},
		w.Seq:  {"", 0},
	} {
		written = 0
		session, err := engine.Fork(t.Context(), w.ID, cut, nil)
		require.NoError(t, err)
		record := stage.Ended(t, session)
		require.NoError(t, session.Close())
		assert.Equal(t, want.written, written, cut)
		forked, ok := arbiter.Of(record)
		require.True(t, ok)
		assert.Len(t, forked.Executions(), 3)
		data, err := json.Marshal(forked)
		require.NoError(t, err)
		assert.Contains(t, string(data), want.warning)
		assert.Equal(t, want.warning == "", len(forked.Warnings) == 0)
	}
}
