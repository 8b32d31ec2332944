package arbiter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/progress"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// TestHooksFollowTheWork: the hooks of every flow tell of decisions, executions, uses of tools, results and plans.
func TestHooksFollowTheWork(t *testing.T) {
	plan := arbiter.Result{Success: true, Output: "Planned.", PlanUpdates: &arbiter.PlanUpdate{Steps: []arbiter.StepUpdate{{Description: "write"}}}}
	engine, _ := engineFor(answers{
		"r1.Ada": byReply(uses("double", `{"n":0}`), scripted.Reply{Text: toJSON(plan)}), "r2.Ben": down(provider.KindAuthentication),
	})
	engine.Tools = map[string]debate.Tool{"double": double(t, flow.ToolInfo{Description: "doubles"})}
	var out []string
	text := ""
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	hooks := progress.Hooks{
		OnPhase:    func(phase progress.Phase) { say("> %s %d", phase.State, phase.Expected) },
		OnPhaseEnd: func(phase progress.Phase) { say("< %s", phase.State) },
		OnCall: func(job progress.Job) {
			if job.Kind == arbiter.KindExecution {
				say("%d. %s", job.Round, job.By)
			}
		},
		OnText: func(_ progress.Job, chunk *flow.Chunk) { text += chunk.Text },
		OnDone: func(job progress.Job) {
			switch body := job.Result.(type) {
			case *arbiter.Decision:
				say("%s %v", body.Move, body.Agents)
			case *flow.Turn:
				result, ok := arbiter.ResultOf(body)
				require.True(t, ok)
				say("%s: %s", job.By, text)
				say("%s plans %s", job.By, result.PlanUpdates.Steps[0].Description)
				say("%s: success %t", job.By, result.Success)
			}
		},
		OnTool: func(job progress.Job) { say("%s uses %s %s", job.By, job.Tool, job.Arguments) },
		OnToolDone: func(job progress.Job, result *flow.ToolResult) {
			say("%s has used %s, failed: %t", job.By, job.Tool, result.Failed)
		},
		OnFailed: func(job progress.Job, why error) { say("%s fails: %v", job.By, why) },
	}
	var failure error
	for _, err := range hooks.Events(engine.Run(t.Context(), equipped())) {
		failure = err
	}
	require.Error(t, failure)
	require.NotEmpty(t, out)
	last := len(out) - 1
	//nolint:dupword // a trace
	assert.Equal(t, strings.TrimSpace(`
> selecting 1
select [Ada]
< selecting
> executing 1
1. Ada
Ada uses double {"n":0}
Ada has used double, failed: true
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
2. Ben`), strings.Join(out[:last], "\n"))
	assert.Contains(t, out[last], "Ben fails: ")
	assert.Contains(t, out[last], "it is down")
}
