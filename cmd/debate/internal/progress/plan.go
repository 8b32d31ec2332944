package progress

import (
	"encoding/json"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
)

// report is what an agent says of the plan once it is done.
type report struct {
	call   string
	update *arbiter.PlanUpdate // nil: nothing, or not yet
}

// reporting returns what an agent reports with a call; nil: the agent is not among those that were selected together.
func (c *Course) reporting(call string) *report {
	for i := range c.reports {
		if c.reports[i].call == call {
			return &c.reports[i]
		}
	}
	return nil
}

// report takes what an agent says of the plan.
func (c *Course) report(t *flow.Turn) {
	result, ok := arbiter.ResultOf(t)
	r := c.reporting(t.Call)
	if !ok || r == nil || result.PlanUpdates == nil {
		return
	}
	for i := range result.PlanUpdates.Steps {
		step := &result.PlanUpdates.Steps[i]
		step.Description = Clean(step.Description)
	}
	r.update = result.PlanUpdates
}

// join changes the plan as the agents say that were selected together, in their order, whoever was faster.
func (c *Course) join() {
	known := len(c.Plan.Steps)
	for _, r := range c.reports {
		if r.update != nil {
			c.Plan = *c.Plan.With(r.update, known)
		}
	}
	c.reports = nil
}

// steer takes an input that leaves out a step of the plan, or has it done again.
func (c *Course) steer(s *flow.Sent) {
	var named arbiter.SkipStep // RerunStep has the same form
	if s.Trigger == arbiter.TriggerForceAgent || len(s.Payload) > 0 && json.Unmarshal(s.Payload, &named) != nil {
		return
	}
	at := c.Plan.CurrentStepIndex
	if named.Step != nil {
		at = *named.Step
	}
	if at < 0 || at >= len(c.Plan.Steps) {
		return
	}
	update := &arbiter.PlanUpdate{Steps: []arbiter.StepUpdate{{Index: at, Status: arbiter.Skipped}}}
	if s.Trigger == arbiter.TriggerRerunStep {
		update.Steps[0].Status, update.CurrentStepIndex = arbiter.Pending, &at
	}
	c.Plan = *c.Plan.With(update, len(c.Plan.Steps))
}
