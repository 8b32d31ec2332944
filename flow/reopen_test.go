package flow_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/flowtest"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A fork of a conversation whose conclusion is made goes on, with a note of what was concluded. Calls that name no round are made anew.
func TestAConclusionIsReopened(t *testing.T) {
	f := stage.OneState(func(r *debate.Record) []*flow.Call {
		var calls []*flow.Call
		for _, name := range r.Active() {
			if id := r.Concluding("say." + name); !r.Done(id) {
				calls = append(calls, &flow.Call{ID: id, Kind: "word", By: name, Model: stage.ModelOf(r, name)})
			}
		}
		return calls
	})
	f.Rules = append(f.Rules, debate.Rule{From: flow.StateCompleting, On: flow.TriggerReopen, To: stage.Asks})
	engine, _, config := stage.WithFlow(f)
	h := flowtest.Begin(t, engine, stage.InFlow(engine, config))
	h.Say("say.Ada", "Yes.")
	h.Say("say.Ben", "No.")
	require.Equal(t, flow.StateCompleted, h.Record().State)

	forked := func(parent *flow.Parent) *flow.Core {
		log := stage.StoredLog{Events: h.Log}.Copied(t)
		start, ok := log[0].Body.(*flow.Start)
		require.True(t, ok)
		start.Parent = parent
		return stage.CoreOf(t, engine, "again", log[:len(log)-1]) // without the transition that completes it
	}
	note := flow.Note{ID: "earlier", As: "The earlier verdict", Text: "Ada has won.", Person: "pat"}
	at := h.Log[len(h.Log)-1].At
	core := forked(&flow.Parent{ID: "test", Seq: int64(len(h.Log) - 1)})
	out, err := core.Step(flow.Input{At: at, Signal: flow.Reopened{Note: note}})
	require.NoError(t, err)
	change, ok := out.Events[0].Body.(*flow.Transition)
	require.True(t, ok)
	assert.Equal(t, []any{flow.TriggerReopen, stage.Asks, "pat"}, []any{change.On, change.To, change.Person})
	assert.Equal(t, []string{"again1.say.Ada", "again1.say.Ben"}, out.Start)
	command, err := core.Command("again1.say.Ben")
	require.NoError(t, err)
	read := command.Request.Messages
	assert.Equal(t, "The earlier verdict"+whatNotesAre+"Ada has won.", said(&read[len(read)-1]))
	assert.Empty(t, core.Record().EndedEarlyBy)

	_, err = core.Step(flow.Input{At: at, Signal: flow.Reopened{Note: note}})
	stage.RequireKind(t, err, provider.KindState) // it goes on already
	_, err = forked(nil).Step(flow.Input{At: at, Signal: flow.Reopened{Note: note}})
	stage.RequireKind(t, err, provider.KindState) // it is no fork
	_, err = core.StepRemote(flow.Input{At: at, Signal: flow.Reopened{Note: note}})
	stage.RequireKind(t, err, provider.KindValidation) // it is no control
}

// Only rules from the conclusion have the trigger, and no flow fires it.
func TestNothingElseIsReopened(t *testing.T) {
	f := stage.OneState(stage.CallsOf(func(*flow.Call) {}))
	f.Rules = append(f.Rules, debate.Rule{From: stage.Asks, On: flow.TriggerReopen, To: stage.Rests})
	_, err := flow.Compile(f)
	require.ErrorContains(t, err, "only a conclusion that is made is reopened")

	f = stage.OneState(stage.CallsOf(func(*flow.Call) {}))
	f.Rules = append(f.Rules, debate.Rule{From: flow.StateCompleting, On: flow.TriggerReopen, To: stage.Asks})
	f.Inputs = []debate.Trigger{flow.TriggerReopen}
	_, err = flow.Compile(f)
	require.ErrorContains(t, err, "an input needs a name of its own")

	f.Inputs = nil
	f.Steps[flow.StateCompleting] = flow.Step{Next: flow.Then(flow.TriggerReopen)}
	engine, _, config := stage.WithFlow(f)
	h := flowtest.Begin(t, engine, stage.InFlow(engine, config))
	h.Say("say.Ada", "Yes.")
	h.Say("say.Ben", "No.")
	require.Equal(t, flow.StateError, h.Record().State)
	assert.Contains(t, h.Record().Failure.Error(), "which only a host program does")
}

// An engine reopens what is completed, in a fork. The original stays as it is.
func TestReopen(t *testing.T) {
	f := stage.OneState(func(r *debate.Record) []*flow.Call {
		id := r.Concluding("say.Ada")
		if r.Done(id) {
			return nil
		}
		return []*flow.Call{{ID: id, Kind: "word", By: "Ada", Model: "test/debater"}}
	})
	f.Rules = append(f.Rules, debate.Rule{From: flow.StateCompleting, On: flow.TriggerReopen, To: stage.Asks})
	f.Reopen = func(r *flow.Record, o flow.Reopening) (flow.Config, flow.Note, error) {
		config, err := flow.ConfigAs[debate.Config](r.Config())
		if err != nil {
			return nil, flow.Note{}, err
		}
		again := *config
		again.ID = o.ID
		return again, flow.Note{ID: "earlier", As: "The earlier verdict", Text: "Ada has won.", Person: o.Person}, nil
	}
	engine, _, config := stage.WithFlow(f)
	first := stage.Run(t, engine, stage.InFlow(engine, config))
	session, err := engine.Reopen(t.Context(), first.ID, flow.Reopening{Person: "pat"})
	require.NoError(t, err)
	record := stage.Ended(t, session)
	require.NoError(t, session.Close())
	assert.Equal(t, flow.StateCompleted, record.State)
	require.Len(t, record.Turns, 2)
	assert.Equal(t, "again1.say.Ada", record.Turns[1].Call)
	require.Len(t, record.Notes, 1)
	assert.Equal(t, "pat", record.Notes[0].Person)
	assert.Equal(t, first.ID, record.Parent().ID)
	assert.Len(t, stage.StoredRecord(t, engine, first.ID).Turns, 1)

	debates, p := stage.Engine(stage.TwoDebaters())
	over := stage.Run(t, debates, stage.TwoDebaters())
	_, err = debates.Reopen(t.Context(), over.ID, flow.Reopening{})
	stage.RequireKind(t, err, provider.KindValidation)
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		out := reply(req)
		out.Delay = time.Hour
		return out
	}
	canceled := stage.Started(t, debates, stage.TwoDebaters())
	require.NoError(t, canceled.Cancel(t.Context()))
	_, err = debates.Reopen(t.Context(), canceled.ID(), flow.Reopening{})
	stage.RequireKind(t, err, provider.KindState)
}
