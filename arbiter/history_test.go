package arbiter_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// The history has the true times, tokens and costs, of all replies of an execution, also of one that has failed.
func TestTheHistoryHasTimesAndCosts(t *testing.T) {
	half := 0.5
	paid := func(r scripted.Reply) scripted.Reply {
		r.Cost, r.Usage, r.Delay = &half, provider.Usage{Input: 20, Output: 10}, time.Minute
		return r
	}
	engine, _ := engineFor(answers{
		"r1.Ada": byReply(paid(uses("double", `{"n":1}`)), paid(scripted.Reply{Text: toJSON(arbiter.Result{Success: true, Output: "Done."})})),
		"r2.Ben": func(*provider.Request) scripted.Reply {
			return scripted.Reply{Err: down(provider.KindRateLimit), Delay: time.Minute}
		},
		"d3": completes("Done."),
	})
	engine.Tools = map[string]debate.Tool{"double": double(t, flow.ToolInfo{Description: "doubles"})}
	c := equipped()
	c.Retry, c.Patience = &flow.RetryPolicy{Base: 1}, time.Nanosecond
	w := worked(t, engine, c)
	ada, ben := w.Executions()[0], w.Executions()[1]
	assert.Equal(t, flow.USD, ada.Cost)
	assert.Equal(t, []int{40, 20}, []int{ada.Usage.Input, ada.Usage.Output})
	assert.Equal(t, 2*time.Minute, ada.EndedAt.Sub(ada.StartedAt))
	assert.Equal(t, arbiter.Failed, ben.Result)
	assert.GreaterOrEqual(t, ben.EndedAt.Sub(ben.StartedAt), 2*time.Minute, "each of its attempts takes a minute")
}

// A retry keeps the step, also where the agent would have another one by now.
func TestARetryKeepsTheStep(t *testing.T) {
	plan := planned("write", "test")
	plan.PlanUpdates.Steps[0].Agent, plan.PlanUpdates.Steps[1].Agent = "Ben", "Ben"
	on := arbiter.Result{Success: true, Output: "I have moved on.", PlanUpdates: &arbiter.PlanUpdate{CurrentStepIndex: new(1)}}
	on.PlanUpdates.Steps = []arbiter.StepUpdate{{Index: 0, Status: arbiter.StepFailed}}
	engine, _ := engineFor(answers{
		"r1.Ada": plan, "d2": picks("Ada", "Ben"), "r2.Ada": on, "r2.Ben": fails("no"), "d4": moves(arbiter.MoveRetry), "d6": completes("Done."),
	})
	c := config()
	c.Parallel = 2
	w := worked(t, engine, c)
	again := w.Executions()[3]
	assert.Equal(t, []any{"r3.Ben", 0, "no"}, []any{again.Call, again.Step, again.Retries})
	assert.Equal(t, arbiter.Complete, w.Plan().Steps[0].Status)
}

// Each agent is asked with its own tools, temperature and options, and else with those of the work.
func TestAgentsAreAskedAsConfigured(t *testing.T) {
	engine, p := engineFor(nil)
	p.Record = true
	engine.Tools = map[string]debate.Tool{
		"double": double(t, flow.ToolInfo{Description: "doubles"}), "triple": double(t, flow.ToolInfo{Description: "triples"}),
	}
	c := config()
	c.Temperature = new(0.5)
	c.Agents[0].Tools, c.Agents[1].Tools = []string{"double"}, []string{"triple"}
	c.Agents[1].Temperature, c.Agents[1].Options = new(0.9), &provider.Options{Effort: provider.EffortLow}
	worked(t, engine, c)
	asked := map[string]provider.Request{}
	for _, req := range p.Requests() {
		asked[callOf(&req)] = req
	}
	for call, want := range map[string]struct {
		tool string
		heat float64
	}{"r1.Ada": {"double", 0.5}, "r2.Ben": {"triple", 0.9}} {
		req := asked[call]
		require.Len(t, req.Tools, 1, call)
		assert.Equal(t, want.tool, req.Tools[0].Name)
		assert.InDelta(t, want.heat, *req.Temperature, 0)
	}
	assert.Nil(t, asked["r1.Ada"].Options)
	assert.Equal(t, provider.EffortLow, asked["r2.Ben"].Options.Effort)
}

// Agents that are selected together do not read each other, also if one is asked again when the other has ended.
func TestAgentsAtOnceDoNotReadEachOther(t *testing.T) {
	engine, p := engineFor(answers{
		"d1": picks("Ada", "Ben"), "r1.Ada": "no result", "d2": picks("Ada"), "d4": completes("Done."),
	})
	p.Record = true
	c := config()
	c.Parallel = 2
	worked(t, engine, c)
	read := map[string]int{}
	for _, req := range p.Requests() {
		read[askedOf(&req)] = len(req.Messages)
	}
	assert.Equal(t, []int{0, 2}, []int{read["r1.Ada again"], read["r2.Ada"]})
}

// A function reads of the last executions what it reads of all.
func TestAFunctionReadsTheLastExecutionsWhole(t *testing.T) {
	engine, p := engineFor(nil)
	p.Reply = byReply(uses("double", `{"n":1}`), scripted.Reply{Text: toJSON(arbiter.Result{Success: true, Output: "Done."})})
	engine.Tools = map[string]debate.Tool{"double": double(t, flow.ToolInfo{Description: "doubles"})}
	var last []arbiter.Execution
	engine.Functions = map[string]flow.Function{"f": arbiter.Func(func(_ context.Context, s arbiter.Situation) (arbiter.Ruling, error) {
		if last = s.Last; len(last) == 0 {
			return picks("Ada"), nil
		}
		return completes("Done."), nil
	})}
	c := equipped()
	c.Arbiter = arbiter.Arbiter{Function: "f"}
	w := worked(t, engine, c)
	assert.Equal(t, toJSON(w.Executions()), toJSON(last))
	assert.Len(t, last[0].Uses, 1)
}

// An input stands, whatever an agent says of the plan that has reported before it.
func TestAReportBeforeAnInputDoesNotUndoIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stale := planned("think", "write", "test")
		stale.PlanUpdates.Steps[0].Status, stale.PlanUpdates.CurrentStepIndex = arbiter.Complete, new(2)
		engine, _ := engineFor(answers{
			"r1.Ada": stale, "d2": picks("Ben", "Ada"), "r2.Ben": stale, "d4": completes("Done."),
			"r2.Ada": byReply(uses("double", `{"n":1}`), scripted.Reply{Text: toJSON(arbiter.Result{Success: true, Output: "Done."})}),
		})
		engine.Tools = map[string]debate.Tool{"double": double(t, flow.ToolInfo{Description: "doubles", Approval: true})}
		c := equipped()
		c.Unattended, c.Parallel = false, 2
		s := stage.Started(t, engine, c)
		stage.AwaitsInput(t, s) // Ben has reported, and Ada waits
		require.Len(t, at(t, s).Current(), 1)
		require.Equal(t, "Ada", at(t, s).Current()[0].Name)
		require.NoError(t, send(t, s, arbiter.TriggerSkipStep, arbiter.SkipStep{Step: new(1)}))
		require.NoError(t, send(t, s, arbiter.TriggerRerunStep, arbiter.RerunStep{Step: 0}))
		require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: at(t, s).Inquiries[0].ID, Option: flow.OptionApprove}))
		stage.Ended(t, s)
		plan := at(t, s).Plan()
		assert.Equal(t, []arbiter.Status{arbiter.Pending, arbiter.Skipped}, []arbiter.Status{plan.Steps[0].Status, plan.Steps[1].Status})
		assert.Zero(t, plan.CurrentStepIndex)
	})
}

// Whoever is faster: others read the outputs in the order of the selection.
func TestOutputsAreReadInTheOrderOfSelection(t *testing.T) {
	for _, names := range [][]string{{"Ada", "Ben"}, {"Ben", "Ada"}} {
		late := "r1." + names[0]
		engine, p := engineFor(answers{"d1": picks(names...), "d2": picks("Ada"), "d4": completes("Done."), late: func(req *provider.Request) scripted.Reply {
			return scripted.Reply{Text: usual(req), Delay: time.Minute}
		}})
		p.Record = true
		c := config()
		c.Parallel = 2
		worked(t, engine, c)
		var read []string
		for _, req := range p.Requests() {
			if callOf(&req) == "r2.Ada" {
				for _, m := range req.Messages {
					read = append(read, m.Text)
				}
			}
		}
		assert.Equal(t, []string{"What r1." + names[0] + " has done.", "What r1." + names[1] + " has done."}, read)
	}
}

// An outage is waited for once: after Config.Patience each further failure counts at once.
func TestAnOutageIsWaitedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, _ := engineFor(nil)
		engine.Providers["other"] = &scripted.Provider{Reply: func(*provider.Request) scripted.Reply {
			return scripted.Reply{Err: down(provider.KindNetwork)}
		}}
		c := config()
		c.Agents[0].Model, c.Agents[1].Model, c.Patience = "other/m", "other/m", 20*time.Minute
		c.Arbiter = arbiter.Arbiter{Function: "f"}
		engine.Functions = map[string]flow.Function{"f": arbiter.Func(func(context.Context, arbiter.Situation) (arbiter.Ruling, error) {
			return picks("Ada"), nil
		})}
		began := time.Now()
		session := stage.Started(t, engine, c)
		record, err := session.WaitIdle(t.Context())
		require.ErrorContains(t, err, "3 failures in a row")
		w := workOf(t, record)
		assert.Len(t, w.Executions(), 3)
		assert.Len(t, slices.DeleteFunc(slices.Clone(record.Warnings), func(w flow.Warning) bool { return w.Kind != flow.WarnOutage }), 1)
		assert.Greater(t, w.Executions()[0].EndedAt.Sub(began), 15*time.Minute)
		assert.LessOrEqual(t, time.Since(began), c.Patience)
	})
}
