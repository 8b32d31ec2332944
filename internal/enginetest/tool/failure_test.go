package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// broken writes where nothing is, as a program does that has forgotten something.
func broken(m map[string]string) { m["sk-canary"] = "written" }

func TestAToolThatPanicsHasFailed(t *testing.T) {
	tool, err := flow.NewTool(flow.ToolInfo{Description: "breaks", ReadOnly: true}, func(context.Context, flow.ToolUse, struct{}) (string, error) {
		broken(nil)
		return "", nil
	})
	require.NoError(t, err)
	engine := stage.WorkshopEngine(stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", "add", `{}`)}), 5, map[string]debate.Tool{"add": tool})
	var lines stage.Locked
	engine.Logger = slog.New(slog.NewTextHandler(&lines, nil))
	record := stage.Run(t, engine, stage.InFlow(engine, stage.ToolUsers()))
	require.Len(t, record.Turns, 2)
	assert.Contains(t, record.Turns[0].Text, "the tool has broken down")
	assert.Contains(t, lines.String(), "tool panicked")
	assert.Contains(t, lines.String(), "assignment to entry in nil map", "the log says why")
	assert.NotContains(t, record.Turns[0].Text, "nil map", "the model is not told")
	assert.NotContains(t, lines.String(), "canary")
}

// The value of a panic may be anything, and as long as it likes.
func TestPanicsAreLoggedWithoutSecrets(t *testing.T) {
	t.Parallel()
	secret := "kZ8canary5f1d7a0c"
	for _, value := range []any{
		&url.Error{Op: "Get", URL: "https://ada:" + secret + "@host/?key=" + secret, Err: errors.New("reason")},
		"reason\nsk-" + secret + " Authorization: Bearer " + secret + strings.Repeat(" x", 1<<20),
	} {
		tool, err := flow.NewTool(flow.ToolInfo{Description: "breaks", ReadOnly: true}, func(context.Context, flow.ToolUse, struct{}) (string, error) {
			panic(value) //nolint:forbidigo // as a tool may
		})
		require.NoError(t, err)
		engine := stage.WorkshopEngine(stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", "add", `{}`)}), 5, map[string]debate.Tool{"add": tool})
		var lines stage.Locked
		engine.Logger = slog.New(slog.NewTextHandler(&lines, nil))
		record := stage.Run(t, engine, stage.InFlow(engine, stage.ToolUsers()))
		require.Len(t, record.Turns, 2)
		assert.Contains(t, lines.String(), "reason")
		assert.NotContains(t, lines.String(), "canary")
		assert.Less(t, len(lines.String()), 64<<10)
		data, err := json.Marshal(record)
		require.NoError(t, err)
		assert.NotContains(t, string(data), "canary")
		assert.NotContains(t, string(data), "reason")
	}
}

// A tool that has no more time may have taken effect all the same.
func TestToolsThatTakeTooLong(t *testing.T) {
	for readOnly, want := range map[bool]string{true: "no reply in time", false: "Nobody knows whether it took effect"} {
		synctest.Test(t, func(t *testing.T) {
			slow, err := flow.NewTool(flow.ToolInfo{Description: "takes its time", ReadOnly: readOnly}, func(ctx context.Context, _ flow.ToolUse, _ struct{}) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			})
			require.NoError(t, err)
			engine := stage.WorkshopEngine(stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", "add", `{}`)}), 5, map[string]debate.Tool{"add": slow})
			config := stage.ToolUsers()
			config.Unattended = true
			record := stage.Run(t, engine, stage.InFlow(engine, config))
			assert.Contains(t, record.Turns[0].Text, want)
		})
	}
}

// A process dies after each of its commits, with a use of a tool in flight or not. What was answered is not
// asked again; what may have taken effect is not done again.
func TestToolsAndCrashes(t *testing.T) {
	t.Parallel()
	for name, info := range map[string]flow.ToolInfo{"read-only": {ReadOnly: true}, "idempotent": {Idempotent: true}, "neither": {}} {
		repeatable := info.ReadOnly || info.Idempotent
		t.Run(name, func(t *testing.T) {
			calls := []provider.ToolCall{stage.ToolCall("1", "add", `{"a":1,"b":2}`), stage.ToolCall("2", "add", `{"a":3,"b":4}`)}
			c := &stage.Tally{}
			engine := stage.WorkshopEngine(stage.ToolAsker(calls), 10, map[string]debate.Tool{"add": c.Of(t, info)})
			config := stage.ToolUsers()
			config.Unattended = true
			log := stage.LogOf(t, engine, stage.Run(t, engine, stage.InFlow(engine, config)).ID)
			for n := log.Index(t, flow.EventIntent, 0); n < len(log.Events); n++ {
				answered := make(map[string]bool)
				inFlight := make(map[string]bool)
				for _, e := range log.Events[:n+1] {
					if body.As[flow.Intent](e) != nil && body.As[flow.Intent](e).Tool != "" {
						inFlight[body.As[flow.Intent](e).Call] = true
					}
					if body.As[flow.ToolResult](e) != nil {
						answered[body.As[flow.ToolResult](e).Call] = true
						delete(inFlight, body.As[flow.ToolResult](e).Call)
					}
				}
				store := &store.Memory{}
				require.NoError(t, store.Append(t.Context(), log.ID, 0, "gone", log.Copied(t)[:n+1]))
				c := &stage.Tally{}
				again := stage.WorkshopEngine(stage.ToolAsker(calls), 10, map[string]debate.Tool{"add": c.Of(t, info)})
				again.Store = store
				session := stage.Reopen(t, again, log.ID)
				record, err := session.Wait(t.Context())
				require.NoError(t, err, "after %d events", n+1)
				require.NoError(t, session.Close())
				assert.Len(t, record.Turns, 2)
				assert.Len(t, record.ToolUses, 4)
				for use, times := range c.Times {
					assert.Equal(t, 1, times)
					assert.False(t, answered[use], "%s was answered before", use)
					assert.True(t, repeatable || !inFlight[use], "%s may have taken effect", use)
				}
				for _, use := range record.ToolUses {
					assert.Equal(t, !repeatable && inFlight[use.Call], use.Failed, use.Text)
					assert.Equal(t, use.Failed, use.Unknown)
				}
			}
		})
	}
}

// A pause breaks off what tools do.
func TestToolsArePaused(t *testing.T) {
	for _, readOnly := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			begun := 0
			var mu sync.Mutex
			slow, err := flow.NewTool(flow.ToolInfo{Description: "takes its time", ReadOnly: readOnly}, func(ctx context.Context, _ flow.ToolUse, _ struct{}) (string, error) {
				mu.Lock()
				begun++
				mu.Unlock()
				select {
				case <-ctx.Done():
					return "", errors.New("half of it is done")
				case <-time.After(time.Minute):
					return "done", nil
				}
			})
			require.NoError(t, err)
			engine := stage.WorkshopEngine(stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", "add", `{}`)}), 5, map[string]debate.Tool{"add": slow})
			config := stage.ToolUsers()
			config.Unattended = true
			session := stage.Started(t, engine, stage.InFlow(engine, config))
			synctest.Wait()
			require.NoError(t, session.Pause(t.Context()))
			synctest.Wait()
			require.NoError(t, session.Resume(t.Context()))
			record := stage.Ended(t, session)
			require.Len(t, record.Turns, 2)
			if readOnly {
				assert.Equal(t, 4, begun, "begun anew")
				assert.Contains(t, record.Turns[0].Text, "done")
			} else {
				assert.Equal(t, 2, begun)
				assert.Contains(t, record.Turns[0].Text, "Nobody knows whether it took effect. (half of it is done)")
			}
		})
	}
}
