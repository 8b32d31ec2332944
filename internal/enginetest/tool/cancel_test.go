package tool_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// What a tool brings after its use was broken off is recorded, also where the debate is over: an effect counts.
func TestWhatAUseBringsAfterItWasBrokenOffIsRecorded(t *testing.T) {
	type control = func(*debate.Session, context.Context) error
	controls := map[string]control{
		"cancel": (*debate.Session).Cancel, "stop": (*debate.Session).Stop,
		"pause": func(s *debate.Session, ctx context.Context) error { return s.Pause(ctx) },
	}
	for name, end := range controls {
		for outcome, c := range map[string]struct {
			takes   time.Duration // after its context has ended
			err     error
			text    string
			failed  bool
			unknown bool
		}{
			"answers":  {time.Second, nil, "all of it is done", false, false},
			"fails":    {time.Second, errors.New("half of it is done"), "(half of it is done)", true, true},
			"says why": {time.Second, context.Canceled, "(broken off)", true, true},
			"ignores":  {time.Hour, nil, "given up: it has not returned 5s after its context had ended", true, true},
		} {
			t.Run(name+", "+outcome, stage.Bubbled(func(t *testing.T) {
				tool, err := flow.NewTool(flow.ToolInfo{Description: "writes"}, func(ctx context.Context, _ flow.ToolUse, _ struct{}) (string, error) {
					<-ctx.Done()
					<-time.After(c.takes)
					return "all of it is done", c.err
				})
				require.NoError(t, err)
				p := stage.AdaAlone(stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", "add", `{}`)}))
				engine := stage.WorkshopEngine(p, 5, map[string]debate.Tool{"add": tool})
				session, err := engine.Start(t.Context(), stage.InFlow(engine, stage.ToolUsers()))
				require.NoError(t, err)
				synctest.Wait()
				require.NoError(t, end(session, t.Context()))
				began := time.Now()
				_, err = session.WaitIdle(t.Context())
				if name == "pause" {
					require.ErrorIs(t, err, debate.ErrPaused)
				} else {
					require.NoError(t, err)
				}
				<-time.After(6 * time.Second) // what is in flight when a debate stops may take the grace
				assert.Less(t, time.Since(began), 20*time.Second)
				record := stage.StoredRecord(t, engine, session.ID())
				require.Len(t, record.ToolUses, 1)
				use := record.ToolUses[0]
				assert.Contains(t, use.Text, c.text)
				assert.Equal(t, c.failed, use.Failed)
				assert.Equal(t, c.unknown, use.Unknown)
				assert.Zero(t, record.InFlight())
				require.NoError(t, session.Close())
				<-time.After(2 * time.Hour) // the tool that has ignored its context returns
			}))
		}
	}
}

// A debate is canceled whose process is gone: what became of the use nobody knows, and the log says so.
func TestAUseOfALostProcessIsRecordedAtTheEnd(t *testing.T) {
	count := &stage.Tally{}
	engine, id := inUse(t, count, false, flow.ToolPolicy{})
	require.NoError(t, engine.Control(t.Context(), id, flow.Cancel{}))
	record := stage.StoredRecord(t, engine, id)
	assert.Equal(t, flow.StateCanceled, record.State)
	assert.Zero(t, record.InFlight())
	require.Len(t, record.ToolUses, 1)
	assert.True(t, record.ToolUses[0].Unknown)
	assert.Empty(t, count.Times)
}

// Where the time of a round is over, a use is broken off with it, and what it brings is recorded.
func TestAUseAfterTheTimeOfItsRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool, err := flow.NewTool(flow.ToolInfo{Description: "writes"}, func(ctx context.Context, _ flow.ToolUse, _ struct{}) (string, error) {
			<-ctx.Done()
			return "all of it is done", nil
		})
		require.NoError(t, err)
		engine := stage.WorkshopEngine(stage.AdaAlone(stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", "add", `{}`)})), 5, map[string]debate.Tool{"add": tool})
		engine.Flows["workshop"].Timed = []debate.State{"working"}
		initial := flow.Step{Next: func(*debate.Record) (debate.Trigger, flow.Exit, bool) {
			return flow.TriggerInitialized, flow.Exit{Round: &flow.Round{N: 1, Of: 1}}, true
		}}
		engine.Flows["workshop"].Steps[flow.StateInitializing] = initial
		config := stage.ToolUsers()
		config.RoundTimeout = time.Minute
		record := stage.Run(t, engine, stage.InFlow(engine, config))
		assert.True(t, record.Skipped("work.Ada"))
		synctest.Wait()
		record = stage.StoredRecord(t, engine, record.ID)
		require.Len(t, record.ToolUses, 1)
		assert.Equal(t, "all of it is done", record.ToolUses[0].Text)
	})
}
