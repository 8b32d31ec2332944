package arbiter_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
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

// The other hooks: uses of tools with their arguments, further attempts, questions with their answers, and warnings.
func TestHooksShowToolsQuestionsAndTroubles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		engine, p := engineFor(nil)
		p.Reply = func(req *provider.Request) scripted.Reply {
			switch {
			case callOf(req) == "r2.Ben" && tries == 0:
				tries++
				return scripted.Reply{Err: down(provider.KindNetwork)}
			case callOf(req) == "r1.Ada":
				done := scripted.Reply{Text: toJSON(arbiter.Result{Success: true, Output: "Done."})}
				return byReply(uses("double", `{"n":0}`), done)(req)
			case callOf(req) == "d4":
				return scripted.Reply{Text: toJSON(completes("Done."))}
			}
			return scripted.Reply{Text: usual(req)}
		}
		engine.Tools = map[string]debate.Tool{"double": double(t, flow.ToolInfo{Description: "doubles", Approval: true})}
		c := equipped()
		c.Unattended, c.Budget = false, &debate.Budget{SoftCalls: 6}
		session, err := engine.Start(t.Context(), c)
		require.NoError(t, err)
		defer session.Close()
		var out []string
		say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
		hooks := arbiter.Hooks{
			OnToolStart: func(agent, tool string, arguments []byte) { say("%s uses %s %s", agent, tool, arguments) },
			OnToolEnd:   func(agent, tool string, failed bool) { say("%s has used %s, failed: %t", agent, tool, failed) },
			OnRetry: func(agent string, failure error) {
				say("%s again: %t", agent, strings.Contains(failure.Error(), "it is down"))
			},
			OnQuestion: func(q flow.Inquiry) {
				say("question about %s", q.Use.Tool)
				go func() { _ = session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionApprove}) }()
			},
			OnAnswer:  func(a flow.Answer) { say("answer %s", a.Option) },
			OnWarning: func(w flow.Warning) { say("warning %s", w.Kind) },
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		for _, err := range hooks.Events(session.Events(ctx, 0)) {
			require.NoError(t, err)
		}
		assert.Subset(t, out, []string{
			"question about double", "answer approve", `Ada uses double {"n":0}`, "Ada has used double, failed: true", "Ben again: true", "warning soft-limit",
		})
	})
}
