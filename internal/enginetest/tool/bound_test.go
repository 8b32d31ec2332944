package tool_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// A flow offers a tool without a name, and the model calls it.
func TestAToolThatTheConversationLacksIsNoEndlessLoop(t *testing.T) {
	for _, name := range []string{"", "sing"} {
		f := stage.Workshop(5)
		step := f.Steps["working"]
		missing := step.Calls
		step.Calls = func(r *debate.Record) []*flow.Call {
			calls := missing(r)
			for i := range calls {
				calls[i].Tools = []string{"add", name}
			}
			return calls
		}
		f.Steps["working"] = step
		p := stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", name, `{}`)})
		engine := stage.WorkshopEngine(p, 5, map[string]debate.Tool{"add": (&stage.Tally{}).Tool(t, true)})
		engine.Flows = map[string]*debate.Flow{"workshop": f}
		session, err := engine.Start(t.Context(), stage.InFlow(engine, stage.ToolUsers()))
		require.NoError(t, err)
		record, err := session.Wait(t.Context())
		require.NoError(t, session.Close())
		stage.RequireKind(t, err, provider.KindValidation)
		assert.ErrorContains(t, err, "the tool")
		assert.Equal(t, flow.StateError, record.State)
		assert.Less(t, record.Seq, int64(10))
		assert.Zero(t, p.Calls())
	}
}

// A log in which a reply asks for a tool that it was not offered is refused.
func TestALogWithAToolThatWasNotOffered(t *testing.T) {
	engine := stage.WorkshopEngine(stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", "add", `{"a":1,"b":2}`)}), 5,
		map[string]debate.Tool{"add": (&stage.Tally{}).Tool(t, true)})
	l := stage.LogOf(t, engine, stage.Run(t, engine, stage.InFlow(engine, stage.ToolUsers())).ID)
	at := l.Index(t, flow.EventTools, 0)
	for _, name := range []string{"", "sing"} {
		events := l.Copied(t)[:at+1]
		body.As[flow.ToolCalls](events[at]).Uses[0].Name = name
		_, err := kernel.Of(t, engine).NewCore(l.ID, events)
		stage.RequireKind(t, err, provider.KindValidation)
		require.ErrorContains(t, err, "was not offered")
		body.As[flow.ToolCalls](events[at]).Uses[0].Denied = "There is no tool of this name."
		stage.CoreOf(t, engine, l.ID, events)
	}
}

// Each process that makes a call dies of it. That ends, and the host program may begin again.
func TestACallThatNeverHasAResultEnds(t *testing.T) {
	engine := stage.WorkshopEngine(stage.ToolAsker(), 5, map[string]debate.Tool{"add": (&stage.Tally{}).Tool(t, true)})
	l := stage.LogOf(t, engine, stage.Run(t, engine, stage.InFlow(engine, stage.ToolUsers())).ID)
	core := stage.CoreOf(t, engine, l.ID, l.Copied(t)[:l.Index(t, flow.EventIntent, 0)+1])
	at := core.Record().LastAt
	step := func(signal flow.Signal) {
		at = at.Add(time.Second)
		_, err := core.Step(flow.Input{At: at, Signal: signal})
		require.NoError(t, err)
	}
	deaths := 0
	for ; core.Record().State == "working" && deaths < 5000; deaths++ {
		for _, lost := range core.InFlight() {
			step(lost)
		}
	}
	assert.Equal(t, flow.StateError, core.Record().State)
	assert.Equal(t, 1000, deaths)
	require.ErrorContains(t, core.Record().Failure, "1000 attempts have given no result")
	step(flow.Retry{})
	assert.Equal(t, debate.State("working"), core.Record().State)
	assert.NotEmpty(t, core.InFlight())
}
