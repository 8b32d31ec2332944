package arbiter_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// TestDegradedWorkSaysSo plays work that is complete with a plan that is not, and whose agent could not be asked with all options.
func TestDegradedWorkSaysSo(t *testing.T) {
	plan := arbiter.Result{Success: true, Output: "Planned.", PlanUpdates: &arbiter.PlanUpdate{Steps: []arbiter.StepUpdate{
		{Index: 0, Description: "think", Status: arbiter.Complete}, {Index: 1, Description: "write"}, {Index: 2, Description: "test", Status: arbiter.Skipped},
	}}}
	engine, _ := engineFor(answers{"d2": completes("Done."), "r1.Ada": func(req *provider.Request) scripted.Reply {
		if req.Model == "m" {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal, Message: "I will not."}}
		}
		return scripted.Reply{Text: toJSON(plan)}
	}})
	engine.Models = map[string]debate.Model{"test/n": {Unsupported: []provider.Ability{provider.AbilityTemperature}}}
	c := config()
	c.Agents[0].Temperature, c.Agents[0].Fallbacks = new(0.5), []string{"test/n"}
	w := worked(t, engine, c)
	want := []string{"the model test/n was asked without temperature", "steps left of the plan: 1 of 3"}
	assert.Equal(t, want, w.Degraded())
	data, err := json.Marshal(w)
	require.NoError(t, err)
	var read struct{ Degraded []string }
	require.NoError(t, json.Unmarshal(data, &read))
	assert.Equal(t, want, read.Degraded)

	engine, _ = engineFor(nil)
	c.Budget = &debate.Budget{SoftCalls: 4}
	w = worked(t, engine, c)
	assert.Equal(t, []string{w.CutShort(), "the task was not declared complete"}, w.Degraded())

	engine, _ = engineFor(nil)
	c = config()
	c.MaxIterations = 1
	w = worked(t, engine, c)
	assert.Equal(t, []string{"the limit of 1 execution was reached, and the task was not declared complete: raise maxIterations"}, w.Degraded())

	engine, _ = engineFor(answers{"r1.Ada": down(provider.KindAuthentication), "d2": completes("Done.")})
	c = config()
	c.OnFailure = []flow.FailureRule{{Do: flow.OptionSkip}}
	w = worked(t, engine, c)
	assert.Equal(t, []string{"Ada has missed an execution in round 1 (authentication)"}, w.Degraded())

	engine, _ = engineFor(answers{"d1": down(provider.KindAuthentication)})
	w, err = play(t, engine, config())
	require.Error(t, err)
	assert.Equal(t, []string{"missing: the arbiter's decision that the task is complete"}, w.Degraded())

	engine, _ = engineFor(nil)
	w = worked(t, engine, config())
	assert.Empty(t, w.Degraded(), "all was as configured")
}
