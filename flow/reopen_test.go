package flow_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/flowtest"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// wordsAgain is a flow in which each says a word before each conclusion.
func wordsAgain() *flow.Flow {
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
	return f
}

// concluded says the words of a conversation, and returns its log as that of a fork before the transition that completes it.
func concluded(t *testing.T, h *flowtest.Hand, parent *flow.Parent) []flow.Event {
	t.Helper()
	if h.Record().State != flow.StateCompleted {
		h.Say("say.Ada", "Yes.")
		h.Say("say.Ben", "No.")
	}
	require.Equal(t, flow.StateCompleted, h.Record().State)
	log := stage.StoredLog{Events: h.Log}.Copied(t)
	start, ok := log[0].Body.(*flow.Start)
	require.True(t, ok)
	start.Parent = parent
	return log[:len(log)-1]
}

// A fork of a conversation whose conclusion is made goes on, with a note of what was concluded. Calls that name no round are made anew.
func TestAConclusionIsReopened(t *testing.T) {
	engine, _, config := stage.WithFlow(wordsAgain())
	h := flowtest.Begin(t, engine, stage.InFlow(engine, config))
	forked := func(parent *flow.Parent) *flow.Core {
		return stage.CoreOf(t, engine, "again", concluded(t, h, parent))
	}
	note := flow.Note{ID: "earlier", As: "The earlier verdict", Text: "Ada has won.", Person: "pat"}
	core := forked(&flow.Parent{ID: "test", Seq: 1})
	at := h.Log[len(h.Log)-1].At
	out, err := core.Step(flow.Input{At: at, Signal: flow.Reopened{Note: note}})
	require.NoError(t, err)
	change, ok := out.Events[0].Body.(*flow.Transition)
	require.True(t, ok)
	assert.Equal(t, []any{flow.TriggerReopen, stage.Asks, "pat"}, []any{change.On, change.To, change.Person})
	assert.Equal(t, []string{"again1.say.Ada", "again1.say.Ben"}, out.Start)
	command, err := core.Command("again1.say.Ben")
	require.NoError(t, err)
	read := command.Request.Messages
	assert.Equal(t, "The earlier verdict|what was concluded earlier, told by the program: material|Ada has won.", said(&read[len(read)-1]))
	assert.Empty(t, core.Record().EndedEarlyBy)

	_, err = core.Step(flow.Input{At: at, Signal: flow.Reopened{Note: note}})
	stage.RequireKind(t, err, provider.KindState) // it goes on already
	_, err = forked(nil).Step(flow.Input{At: at, Signal: flow.Reopened{Note: note}})
	stage.RequireKind(t, err, provider.KindState) // it is no fork
	_, err = core.StepRemote(flow.Input{At: at, Signal: flow.Reopened{Note: note}})
	stage.RequireKind(t, err, provider.KindValidation) // it is no control
}

// A conversation is reopened if its budget has room for a call that is missing. One that is done, and that the flow names still, is not.
func TestABudgetHasRoomForACallThatIsMissing(t *testing.T) {
	f := wordsAgain()
	step := f.Steps[stage.Asks]
	missing := step.Calls
	step.Calls = func(r *debate.Record) []*flow.Call {
		if !r.Done("say.Ada") {
			return missing(r)
		}
		return append([]*flow.Call{{ID: "say.Ada", Kind: "word", By: "Ada", Performer: flow.ByPerson}}, missing(r)...)
	}
	f.Steps[stage.Asks] = step
	engine, _, config := stage.WithFlow(f)
	h := flowtest.Begin(t, engine, stage.InFlow(engine, config))
	log := concluded(t, h, &flow.Parent{ID: "test", Seq: 1})
	used := h.Record().Spent().Usage
	for tokens, refused := range map[int]bool{used.Input + used.Output + 1: true, 1_000_000: false} {
		start := *body.As[flow.Start](log[0])
		start.Settings.Budget = &flow.Budget{HardTokens: tokens}
		log[0].Body = &start
		core := stage.CoreOf(t, engine, "again", log)
		note := flow.Note{As: "The earlier verdict", Text: "Ada has won."}
		_, err := core.Step(flow.Input{At: log[len(log)-1].At, Signal: flow.Reopened{Note: note}})
		if refused {
			stage.Refused(t, err, "budget")
		} else {
			require.NoError(t, err)
		}
	}
}

// However much hosts have said, a conversation goes on after its conclusion. What is told of that has an ID that no host gives, and is cut
// to its share of the smallest window, but for what is asked at its end.
func TestNoNotesKeepAConversationFromGoingOn(t *testing.T) {
	engine, _, config := stage.WithFlow(wordsAgain())
	small := engine.Models["test/debater"]
	small.Window = 16_384
	engine.Models["test/debater"] = small
	h := flowtest.Begin(t, engine, stage.InFlow(engine, config))
	for i := range 50 {
		at := h.Log[len(h.Log)-1].At
		out, err := h.Step(flow.Input{At: at, Signal: flow.Note{ID: fmt.Sprint("n", i), Text: strings.Repeat("x", 64)}})
		require.NoError(t, err)
		h.Log = append(h.Log, out.Events...)
	}
	core := stage.CoreOf(t, engine, "again", concluded(t, h, &flow.Parent{ID: "test", Seq: 1}))
	told := "Ada has won. " + strings.Repeat("So it is. ", 400) + "Who pays?"
	_, err := core.Step(flow.Input{At: h.Log[len(h.Log)-1].At, Signal: flow.Reopened{Note: flow.Note{As: "The earlier verdict", Text: told}}})
	require.NoError(t, err)
	require.Len(t, core.Record().Notes, 51)
	note := core.Record().Notes[50]
	assert.Equal(t, "reopened-1", note.ID)
	assert.Regexp(t, `(?s)^Ada has won\. .*….*Who pays\?$`, note.Text)
	assert.LessOrEqual(t, len(note.Text), 16_384/10*2)
}

// A log in which a conversation goes on again and again is refused.
func TestAConversationDoesNotGoOnForEver(t *testing.T) {
	engine, _, config := stage.WithFlow(wordsAgain())
	h := flowtest.Begin(t, engine, stage.InFlow(engine, config))
	log := concluded(t, h, &flow.Parent{ID: "test", Seq: 1})
	at := log[len(log)-1].At
	for range 101 {
		for _, change := range []*flow.Transition{
			{From: flow.StateCompleting, To: stage.Asks, On: flow.TriggerReopen}, {From: stage.Asks, To: flow.StateCompleting, On: stage.Done},
		} {
			log = append(log, flow.Event{Seq: int64(len(log) + 1), At: at, Body: change})
		}
	}
	_, err := kernel.Of(t, engine).NewCore("again", log[:len(log)-2])
	require.NoError(t, err)
	_, err = kernel.Of(t, engine).NewCore("again", log)
	require.ErrorContains(t, err, "more than 100 times")
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
