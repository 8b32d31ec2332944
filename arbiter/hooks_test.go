package arbiter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

func TestHooksFollowTheWork(t *testing.T) {
	plan := arbiter.Result{Success: true, Output: "Planned.", PlanUpdates: &arbiter.PlanUpdate{Steps: []arbiter.StepUpdate{{Description: "write"}}}}
	engine, _ := engineFor(answers{"r1.Ada": plan, "r2.Ben": down(provider.KindAuthentication)})
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	hooks := arbiter.Hooks{
		OnPhaseStart: func(phase flow.State, expected int) { say("> %s %d", phase, expected) },
		OnPhaseEnd:   func(phase flow.State) { say("< %s", phase) },
		OnDecision:   func(d *arbiter.Decision) { say("%s %v", d.Move, d.Agents) },

		OnExecutionStart: func(agent string, iteration int) { say("%d. %s", iteration, agent) },
		OnText:           func(agent, text string) { say("%s: %s", agent, text) },
		OnExecutionEnd:   func(agent string, r arbiter.Result) { say("%s: success %t", agent, r.Success) },
		OnPlan:           func(agent string, u arbiter.PlanUpdate) { say("%s plans %s", agent, u.Steps[0].Description) },
	}
	var failure error
	for _, err := range hooks.Events(engine.Run(t.Context(), config())) {
		failure = err
	}
	require.Error(t, failure)
	assert.Equal(t, strings.TrimSpace(`
> initializing 0
< initializing
> selecting 1
select [Ada]
< selecting
> executing 1
1. Ada
Ada: Planned.
Ada plans write
Ada: success true
< executing
> evaluating 1
select [Ben]
< evaluating
> selecting 0
< selecting
> executing 1
2. Ben
Ben: success false
< executing`), strings.Join(out, "\n"))
}
