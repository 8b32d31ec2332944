package tool_test

import (
	"context"
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

// usesOf returns the uses of tools that a log has begun, and whether each has a result.
func usesOf(events []debate.Event) (begun map[string]bool) {
	begun = make(map[string]bool)
	for _, e := range events {
		if in := body.As[flow.Intent](e); in != nil && in.Tool != "" {
			begun[in.Call] = false
		}
		if result := body.As[flow.ToolResult](e); result != nil && !result.Unknown {
			begun[result.Call] = true
		}
	}
	return begun
}

// A fork at any point repeats no use: what has a result has it in the fork, and what was in flight at the cut, or has begun since,
// has an unknown outcome. A person who has let one use be made has not let the fork make it. Only what a model asks for anew is
// another use.
func TestAForkRepeatsNoUse(t *testing.T) {
	for name, info := range map[string]flow.ToolInfo{"without approval": {}, "with approval": {Approval: true}} {
		t.Run(name, func(t *testing.T) {
			asks := []provider.ToolCall{stage.ToolCall("1", "add", `{"a":1,"b":2}`), stage.ToolCall("2", "add", `{"a":3,"b":4}`)}
			engine := stage.WorkshopEngine(stage.AdaAlone(stage.ToolAsker(asks)), 10, map[string]debate.Tool{"add": (&stage.Tally{}).Of(t, info)})
			engine.Store = &store.Memory{}
			session, err := engine.Start(t.Context(), stage.InFlow(engine, stage.ToolUsers()))
			require.NoError(t, err)
			if info.Approval {
				for _, q := range stage.AwaitsInput(t, session).Inquiries {
					require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionApprove}))
				}
			}
			parent := stage.Ended(t, session)
			require.NoError(t, session.Close())
			log := stage.LogOf(t, engine, parent.ID)
			unknown := 0
			for seq := int64(1); seq <= int64(len(log.Events)); seq++ {
				count := &stage.Tally{}
				forking := stage.WorkshopEngine(stage.AdaAlone(stage.ToolAsker(asks)), 10, map[string]debate.Tool{"add": count.Of(t, info)})
				forking.Store = engine.Store
				fork, err := forking.Fork(t.Context(), parent.ID, seq, nil)
				require.NoError(t, err)
				record, err := fork.Wait(t.Context())
				begun := usesOf(log.Events[:record.Parent().Seq])
				for _, e := range log.Events[:record.Parent().Seq] {
					if asked := body.As[flow.ToolCalls](e); asked != nil { // all of them have begun
						begun = usesOf(log.Events)
					}
				}
				for err != nil {
					require.ErrorIs(t, err, debate.ErrAwaitingInput)
					for _, q := range record.Inquiries {
						_, known := begun[q.Use.Use]
						assert.Equal(t, known, q.Use.Attempt == 1, "after %d events", seq)
						option := flow.OptionApprove
						if q.Use.Attempt > 0 {
							option, unknown = flow.OptionTell, unknown+1
						}
						assert.Zero(t, count.Times[q.Use.Use])
						require.NoError(t, fork.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: option}))
					}
					record, err = fork.Wait(t.Context())
				}
				for _, use := range []string{"work.Ada.tool.1", "work.Ada.tool.2"} {
					_, known := begun[use]
					assert.Equal(t, !known, count.Times[use] == 1, "%s after %d events", use, seq)
				}
				assert.NotEmpty(t, adaSaid(t, record))
				require.NoError(t, fork.Close())
			}
			assert.Positive(t, unknown)
		})
	}
}

// A use that the original never began is made by a fork as by any debate.
func TestAForkMakesAUseThatTheOriginalHasNotBegun(t *testing.T) {
	asks := []provider.ToolCall{stage.ToolCall("1", "add", `{"a":1,"b":2}`)}
	config := stage.ToolUsers()
	engine := stage.WorkshopEngine(stage.AdaAlone(stage.ToolAsker(asks)), 10, map[string]debate.Tool{"add": (&stage.Tally{}).Of(t, flow.ToolInfo{})})
	log := stage.LogOf(t, engine, stage.Run(t, engine, stage.InFlow(engine, config)).ID)
	count := &stage.Tally{}
	left := stage.WorkshopEngine(stage.AdaAlone(stage.ToolAsker(asks)), 10, map[string]debate.Tool{"add": count.Of(t, flow.ToolInfo{})})
	left.Store = &store.Memory{}
	cut := log.Index(t, flow.EventTools, 0) + 1
	require.NoError(t, left.Store.Append(t.Context(), log.ID, 0, "gone", log.Copied(t)[:cut]))
	fork, err := left.Fork(t.Context(), log.ID, int64(cut), nil)
	require.NoError(t, err)
	defer fork.Close()
	record := stage.Ended(t, fork)
	assert.Equal(t, 1, count.Times["work.Ada.tool.1"])
	assert.Contains(t, adaSaid(t, record), "3")
	assert.Empty(t, record.Warnings)
}

// A fork that was made is found again wherever it was cut, although its parent has gone on meanwhile. One that is cut elsewhere is another.
func TestAForkIsFoundAgainWhenItsParentHasGoneOn(t *testing.T) {
	asks := []provider.ToolCall{stage.ToolCall("1", "add", `{"a":1,"b":2}`)}
	workshop := func(kept debate.Store) *debate.Engine {
		tools := map[string]debate.Tool{"add": (&stage.Tally{}).Of(t, flow.ToolInfo{})}
		engine := stage.WorkshopEngine(stage.AdaAlone(stage.ToolAsker(asks)), 10, tools)
		engine.Store = kept
		return engine
	}
	engine := workshop(&store.Memory{})
	log := stage.LogOf(t, engine, stage.Run(t, engine, stage.InFlow(engine, stage.ToolUsers())).ID)
	for cut := 2; cut < len(log.Events); cut++ {
		kept := &store.Memory{}
		engine := workshop(kept)
		fork := func(seq int) error {
			edit := debate.Editing(func(c *debate.Config) { c.ID = "fork" })
			_, err := engine.SubmitFork(t.Context(), log.ID, int64(seq), edit)
			return err
		}
		require.NoError(t, kept.Append(t.Context(), log.ID, 0, "first", log.Copied(t)[:cut]))
		require.NoError(t, fork(cut), "cut behind event %d", cut)
		require.NoError(t, kept.Append(t.Context(), log.ID, int64(cut), "second", log.Copied(t)[cut:]))
		require.ErrorIs(t, fork(cut), flow.ErrForked, "cut behind event %d", cut)
		err := fork(cut + 1)
		stage.RequireKind(t, err, provider.KindConflict)
		require.NotErrorIs(t, err, flow.ErrForked, "cut behind event %d", cut)
	}
}

// All attempts at a use have one key, also in a fork. Other uses have other keys, and so have other conversations.
func TestKeysOfUses(t *testing.T) {
	keys := make(map[string][]string)
	tool := func() debate.Tool {
		tool, err := flow.NewTool(flow.ToolInfo{Idempotent: true}, func(_ context.Context, use flow.ToolUse, _ struct{}) (string, error) {
			keys[use.Call] = append(keys[use.Call], use.Key)
			return "done", nil
		})
		require.NoError(t, err)
		return tool
	}
	asks := []provider.ToolCall{stage.ToolCall("1", "add", `{}`)}
	engine := stage.WorkshopEngine(stage.AdaAlone(stage.ToolAsker(asks, asks)), 10, map[string]debate.Tool{"add": tool()})
	engine.Store = &store.Memory{}
	config := stage.ToolUsers()
	config.ID = "first"
	record := stage.Run(t, engine, stage.InFlow(engine, config))
	log := stage.LogOf(t, engine, record.ID)
	fork, err := engine.Fork(t.Context(), record.ID, int64(log.Index(t, flow.EventTool, 0)), nil) // the first use is in flight
	require.NoError(t, err)
	stage.Ended(t, fork)
	require.NoError(t, fork.Close())
	config.ID = "second"
	stage.Run(t, engine, stage.InFlow(engine, config))

	first, second := keys["work.Ada.tool.1"], keys["work.Ada.tool.2"]
	require.Len(t, first, 3)
	assert.Len(t, first[0], 32)
	assert.Equal(t, first[0], first[1], "the fork's")
	assert.NotEqual(t, first[0], first[2], "the other debate's")
	assert.NotEqual(t, first[0], second[0])
}
