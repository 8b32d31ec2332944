package flow_test

import (
	"context"
	"encoding/json"
	"strings"
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
	"github.com/agonist-dev/debate/provider/scripted"
)

// transitions yields the states that a stored debate went through.
func transitions(t *testing.T, engine *debate.Engine, id string) (states []debate.State) {
	t.Helper()
	for event, err := range engine.Events(t.Context(), id, 0) {
		require.NoError(t, err)
		if body.As[flow.Transition](event) != nil {
			states = append(states, body.As[flow.Transition](event).To)
		}
		if body.As[flow.Transition](event) != nil && body.As[flow.Transition](event).To == flow.StateError {
			break
		}
	}
	return states
}

func TestWhatBecomesOfACallThatFailed(t *testing.T) {
	drop, skip := stage.Rules(debate.FailureRule{Do: flow.OptionDrop}), stage.Rules(debate.FailureRule{Do: flow.OptionSkip})
	for name, c := range map[string]struct {
		onFail flow.OnFail
		rules  []debate.FailureRule
		active int
		via    debate.State
	}{
		"it is an aid":                    {flow.OnFail{Aid: true}, nil, 2, flow.StateCompleting},
		"it is left out":                  {flow.OnFail{Skip: flow.RuleToo}, skip, 2, flow.StateCompleting},
		"its participant is dropped":      {flow.OnFail{Drop: flow.RuleToo}, drop, 1, flow.StateCompleting},
		"the flow goes elsewhere":         {flow.OnFail{Fire: stage.Lost}, nil, 2, stage.Rests},
		"the flow has no rule for it":     {flow.OnFail{Fire: stage.Nudge, Drop: flow.RuleToo}, drop, 1, flow.StateCompleting},
		"only a person leaves it out":     {flow.OnFail{Skip: flow.PersonOnly}, skip, 2, flow.StateError},
		"only a person drops its speaker": {flow.OnFail{Drop: flow.PersonOnly}, drop, 2, flow.StateError},
		"no rule leaves it out":           {flow.OnFail{Skip: flow.RuleToo, Drop: flow.RuleToo}, nil, 2, flow.StateError},
		"the debate stops":                {flow.OnFail{}, append(drop, skip...), 2, flow.StateError},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			engine, source, config := stage.WithFlow(stage.OneState(stage.CallsOf(func(call *flow.Call) { call.OnFail = c.onFail })))
			config.OnFailure = c.rules
			source.Reply = func(req *provider.Request) scripted.Reply {
				if req.Self == "Ada" {
					return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal}, Delay: time.Second}
				}
				return scripted.Reply{Text: "Ben speaks."}
			}
			session := stage.Started(t, engine, stage.InFlow(engine, config))
			record, err := session.Wait(t.Context())
			if c.via == flow.StateError {
				stage.RequireKind(t, err, provider.KindRefusal)
				require.NoError(t, session.Stop(t.Context()))
			} else {
				require.NoError(t, err)
			}
			assert.Equal(t, []string{"r0 Ben"}, stage.Speakers(record))
			assert.Len(t, record.Active(), c.active)
			assert.True(t, record.Failed("say.Ada"))
			assert.Contains(t, transitions(t, engine, session.ID()), c.via)
			assert.Equal(t, 2, source.Calls())
		}))
	}
}

// A flow that contradicts itself stops its debate at an error that says so.
func TestFlowsThatContradictThemselves(t *testing.T) {
	circle := stage.OneState(nil)
	circle.Rules = append(circle.Rules, debate.Rule{From: stage.Rests, On: "back", To: stage.Asks})
	turn := func(on debate.Trigger) flow.Step {
		return flow.Step{Next: func(*debate.Record) (debate.Trigger, flow.Exit, bool) { return on, flow.Exit{}, true }}
	}
	circle.Steps[stage.Asks], circle.Steps[stage.Rests] = turn(stage.Lost), turn("back")
	nowhere := stage.OneState(nil)
	nowhere.Steps[stage.Asks] = turn("nowhere")
	for name, c := range map[string]struct {
		flow *debate.Flow
		kind debate.Kind
		says string
	}{
		"in a circle":              {circle, provider.KindState, "in a loop"},
		"a trigger without rules":  {nowhere, provider.KindState, "nowhere"},
		"an unknown model":         {stage.OneState(stage.CallsOf(func(c *flow.Call) { c.Model = "test/other" })), provider.KindValidation, `"test/other"`},
		"skipped without a reason": {stage.OneState(stage.CallsOf(func(c *flow.Call) { c.SkipWith = "ask" })), provider.KindState, "skipped with ask"},
		"an unknown schema":        {stage.OneState(stage.CallsOf(func(c *flow.Call) { c.Schema = "plan" })), provider.KindValidation, "plan"},
	} {
		t.Run(name, func(t *testing.T) {
			engine, source, config := stage.WithFlow(c.flow)
			session := stage.Started(t, engine, stage.InFlow(engine, config))
			record, err := session.Wait(t.Context())
			stage.RequireKind(t, err, c.kind)
			assert.ErrorContains(t, err, c.says)
			assert.Equal(t, flow.StateError, record.State)
			assert.Zero(t, source.Calls())
		})
	}
}

func TestNotBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		engine, source, config := stage.WithFlow(stage.OneState(stage.CallsOf(func(c *flow.Call) {
			c.NotBefore = began.Add(time.Minute)
			if c.By == "Ben" {
				c.NotBefore = began.Add(time.Hour)
			}
		})))
		session := stage.Started(t, engine, stage.InFlow(engine, config))
		synctest.Wait()
		assert.Zero(t, source.Calls())
		stage.Ended(t, session)
		assert.Equal(t, time.Hour, time.Since(began))
		assert.Equal(t, 2, source.Calls())
	})
}

// A judge from outside does not read what is still hidden.
func TestHiddenTurnsAreNotInATask(t *testing.T) {
	var read []string
	engine, _, config := stage.WithFlow(stage.OneState(func(r *debate.Record) []*flow.Call {
		for i, name := range r.Active() {
			if id := "say." + name; !r.Done(id) {
				return []*flow.Call{{ID: id, Kind: "word", By: name, Model: stage.ModelOf(r, name), Slot: i, Hidden: name == "Ada"}}
			}
		}
		if r.Done("view") {
			return nil
		}
		return []*flow.Call{{ID: "view", Kind: "view", By: "Cato", Performer: flow.ByFunction, Function: "panel", Task: func(r *debate.Record, asked flow.Asked) any {
			return &debate.JudgeTask{Call: asked.Call.ID, Attempt: asked.Attempt, Turns: r.Readable()}
		}}}
	}))
	engine.Judges = map[string]debate.Judge{"panel": debate.JudgeFunc(func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
		for _, turn := range task.Turns {
			read = append(read, turn.Speaker)
		}
		return json.RawMessage("A word."), nil
	})}
	record := stage.Run(t, engine, stage.InFlow(engine, config))
	assert.Equal(t, []string{"Ben"}, read)
	assert.Equal(t, []string{"r0 Ada", "r0 Ben", "r0 Cato"}, stage.Speakers(record))
}

// What a call reads is said by its View.
func TestViews(t *testing.T) {
	f := stage.Reflecting()
	calls := f.Steps["reflecting"].Calls
	f.Steps["reflecting"] = flow.Step{Next: f.Steps["reflecting"].Next, Calls: func(r *debate.Record) []*flow.Call {
		out := calls(r)
		for i := range out {
			out[i].View = flow.View{None: r.Round == 1, From: r.Round}
		}
		return out
	}}
	engine, source, config := stage.WithFlow(f)
	stage.Run(t, engine, stage.InFlow(engine, config))
	var read []int
	for _, request := range source.Requests() {
		if strings.Contains(request.ID, ".reflection.") {
			read = append(read, len(request.Messages))
		}
	}
	assert.Equal(t, []int{0, 2}, read, "nothing at all, then its own round only")
}

// A function that is made for another flow is told so, and not asked again.
func TestAFunctionOfAnotherFlow(t *testing.T) {
	task, err := flow.TaskOf[debate.JudgeTask](&debate.JudgeTask{Call: "verdict"})
	require.NoError(t, err)
	assert.Equal(t, "verdict", task.Call)
	_, err = flow.TaskOf[debate.JudgeTask](&grades{})
	stage.RequireKind(t, err, provider.KindValidation)
	assert.ErrorContains(t, err, "the function takes a *debate.JudgeTask, and the flow of this conversation gives it a *flow_test.grades")
}
