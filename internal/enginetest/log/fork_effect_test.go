package log_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// What tools have changed since the cut of a fork stays changed. The fork says so, wherever it is cut, and counts the uses. Of
// tools that change nothing it does not speak.
func TestAForkSaysWhatWasNotRolledBack(t *testing.T) {
	engine := stage.WorkshopEngine(stage.AdaAlone(stage.ToolAsker(
		[]provider.ToolCall{stage.ToolCall("1", "add", `{"a":1,"b":2}`), stage.ToolCall("2", "look", `{"a":1,"b":2}`)},
		[]provider.ToolCall{stage.ToolCall("3", "put", `{"a":1,"b":2}`), stage.ToolCall("4", "add", `{"a":3,"b":4}`)},
	)), 10, map[string]debate.Tool{
		"add":  (&stage.Tally{}).Tool(t, false),
		"put":  (&stage.Tally{}).Of(t, flow.ToolInfo{Idempotent: true}),
		"look": (&stage.Tally{}).Tool(t, true),
	})
	config := stage.ToolUsers()
	config.Unattended, config.Tools = true, []string{"add", "look", "put"}
	original := stage.Run(t, engine, stage.InFlow(engine, config))
	events := stage.LogOf(t, engine, original.ID).Events
	warnings := make(map[string]bool)
	for cut := range int64(len(events)) + 1 {
		fork, err := engine.Fork(t.Context(), original.ID, cut, nil)
		require.NoError(t, err)
		record := stage.Ended(t, fork)
		require.NoError(t, fork.Close())
		begun := map[string]int{}
		for _, e := range events[record.Parent().Seq:] {
			if in := body.As[flow.Intent](e); in != nil {
				begun[in.Tool]++
			}
		}
		said := ""
		switch add, put := begun["add"], begun["put"]; {
		case add > 0 && put > 0:
			said = fmt.Sprintf("add %d, put %d", add, put)
		case add > 0:
			said = fmt.Sprintf("add %d", add)
		case put > 0:
			said = fmt.Sprintf("put %d", put)
		}
		if said == "" {
			assert.Empty(t, record.Warnings, cut)
			continue
		}
		since := "its beginning"
		if cut > 0 {
			since = fmt.Sprintf("event %d", record.Parent().Seq)
		}
		assert.Equal(t, []flow.Warning{{Kind: flow.WarnEffect, Evidence: "the original has used tools since " + since + " (" + said +
			"): what they have changed was not rolled back"}}, record.Warnings, cut)
		warnings[said] = true
	}
	assert.Contains(t, warnings, "add 2, put 1")
	assert.GreaterOrEqual(t, len(warnings), 3)
}

// Whoever reads a conversation, or opens a copy of it elsewhere, makes no use of a tool.
func TestReadingRepeatsNoUse(t *testing.T) {
	count := &stage.Tally{}
	tools := map[string]debate.Tool{"add": count.Tool(t, false)}
	engine := stage.WorkshopEngine(stage.AdaAlone(stage.ToolAsker(stage.OneSum(1)...)), 10, tools)
	record := stage.Run(t, engine, stage.InFlow(engine, stage.ToolUsers()))
	log := stage.LogOf(t, engine, record.ID)
	count.Times = nil
	other := stage.WorkshopEngine(stage.AdaAlone(stage.ToolAsker(stage.OneSum(1)...)), 10, tools)
	other.Store = &store.Memory{}
	require.NoError(t, other.Store.Append(t.Context(), log.ID, 0, "copy", log.Copied(t)))
	session := stage.Reopen(t, other, log.ID)
	again := stage.Ended(t, session)
	require.NoError(t, session.Close())
	for _, err := range other.Events(t.Context(), log.ID, 0) {
		require.NoError(t, err)
	}
	assert.Len(t, again.ToolUses, len(record.ToolUses))
	assert.Empty(t, count.Times)
	assert.Empty(t, again.Warnings)
}
