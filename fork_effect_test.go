package debate_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// What tools have changed since the cut of a fork stays changed. The fork says so, wherever it is cut, and counts the uses. Of
// tools that change nothing it does not speak.
func TestAForkSaysWhatWasNotRolledBack(t *testing.T) {
	engine := workshopEngine(adaAlone(worker(
		[]provider.ToolCall{toolCall("1", "add", `{"a":1,"b":2}`), toolCall("2", "look", `{"a":1,"b":2}`)},
		[]provider.ToolCall{toolCall("3", "put", `{"a":1,"b":2}`), toolCall("4", "add", `{"a":3,"b":4}`)},
	)), 10, map[string]debate.Tool{
		"add":  (&tally{}).tool(t, false),
		"put":  (&tally{}).of(t, flow.ToolInfo{Idempotent: true}),
		"look": (&tally{}).tool(t, true),
	})
	config := workers()
	config.Unattended, config.Tools = true, []string{"add", "look", "put"}
	original := run(t, engine, inFlow(engine, config))
	events := logOf(t, engine, original.ID).events
	warnings := make(map[string]bool)
	for cut := range int64(len(events)) + 1 {
		fork, err := engine.Fork(t.Context(), original.ID, cut, nil)
		require.NoError(t, err)
		record := ends(t, fork)
		require.NoError(t, fork.Close())
		begun := map[string]int{}
		for _, e := range events[record.Parent().Seq:] {
			if in := as[flow.Intent](e); in != nil {
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
	count := &tally{}
	tools := map[string]debate.Tool{"add": count.tool(t, false)}
	engine := workshopEngine(adaAlone(worker(oneSum(1)...)), 10, tools)
	record := run(t, engine, inFlow(engine, workers()))
	log := logOf(t, engine, record.ID)
	count.times = nil
	other := workshopEngine(adaAlone(worker(oneSum(1)...)), 10, tools)
	other.Store = &store.Memory{}
	require.NoError(t, other.Store.Append(t.Context(), log.id, 0, "copy", log.copied(t)))
	session, err := other.Open(t.Context(), log.id)
	require.NoError(t, err)
	again := ends(t, session)
	require.NoError(t, session.Close())
	for _, err := range other.Events(t.Context(), log.id, 0) {
		require.NoError(t, err)
	}
	assert.Len(t, again.ToolUses, len(record.ToolUses))
	assert.Empty(t, count.times)
	assert.Empty(t, again.Warnings)
}
