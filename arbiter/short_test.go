package arbiter_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// What has cut work short is the first thing that it says of itself, with the executions that have ended. A decision and an execution
// take a second each; two agents are selected at once where the config allows it.
func TestCutShortIsSaid(t *testing.T) {
	t.Parallel()
	soft, hard := stage.SoftLimit, stage.HardLimit
	budget := func(b flow.Budget) func(*arbiter.Config) { return func(c *arbiter.Config) { c.Budget = &b } }
	both := func(c *arbiter.Config) {
		c.Parallel, c.Budget = 2, &flow.Budget{SoftCalls: 4}
	}
	for name, tc := range map[string]struct {
		change func(*arbiter.Config)
		own    answers
		signal flow.Signal // after three and a half seconds: while the second agent works
		want   string      // of the whole sentence; "": nothing was cut
	}{
		"nothing":      {},
		"a decision":   {change: budget(flow.Budget{SoftCalls: 4}), want: soft(`ended after 2 of 50 executions`, `4 calls`)},
		"an execution": {change: budget(flow.Budget{SoftCalls: 3}), want: soft(`ended after 1 of 50 executions`, `3 calls`)},
		"at once": {
			change: both, own: answers{"d1": picks("Ada", "Ben"), "d2": picks("Ben", "Ada")},
			want: soft(`ended after 2 of 50 executions`, `4 calls`),
		},
		"all it wanted": {change: budget(flow.Budget{SoftCalls: 7})},
		"all it takes":  {change: budget(flow.Budget{SoftTime: time.Hour, HardCalls: 7})},
		"tokens":        {change: budget(flow.Budget{SoftTokens: 300_000}), want: soft(`ended after 1 of 50 executions`, `300000 tokens`)},
		"time": {
			change: budget(flow.Budget{SoftTime: 3 * time.Second}),
			want:   `ended after 1 of 50 executions because the time was over: raise softTime \(3s of 3s\)`,
		},
		"hard":  {change: budget(flow.Budget{HardCalls: 4}), want: hard(`stopped after 2 of 50 executions`, `4 calls`)},
		"stop":  {signal: flow.Stop{Reason: "enough"}, want: `ended after 1 of 50 executions: stopped by the host: enough`},
		"leave": {signal: flow.Cancel{}, want: `ended after 1 of 50 executions: canceled by the host`},
		"rule": {
			change: func(c *arbiter.Config) { c.OnFailure = []flow.FailureRule{{Do: flow.OptionEnd}} },
			own:    answers{"d2": &provider.Error{Kind: provider.KindRefusal, Message: "I will not."}},
			want:   `ended after 1 of 50 executions by a rule after a failure: debate: refusal.*`,
		},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			engine, p := engineFor(tc.own)
			stage.Altered(p, func(_ *provider.Request, r *scripted.Reply) {
				r.Delay, r.Usage = time.Second, provider.Usage{Input: 100_000, Output: 100}
			})
			c := config()
			if tc.change != nil {
				tc.change(&c)
			}
			session := stage.Started(t, engine, c)
			if tc.signal != nil {
				time.Sleep(3500 * time.Millisecond) //nolint:forbidigo // in a bubble nobody waits
				require.NoError(t, session.Control(t.Context(), tc.signal))
			}
			record, _ := session.WaitIdle(t.Context())
			stage.AssertCut(t, engine, record, workOf(t, record).Degraded(), tc.want)
		}))
	}
}

// Work that a limit has cut short says about how much would do. With that limit it has all its executions.
func TestTheLimitThatIsNamedSuffices(t *testing.T) {
	t.Parallel()
	for name, limit := range stage.Limits() {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			engine, p := engineFor(nil)
			engine.Models = map[string]flow.Model{"test/m": {Priced: true, Input: flow.USD / 1_000_000, Output: 4 * flow.USD / 1_000_000}}
			p.Reply = func(req *provider.Request) scripted.Reply {
				if req.Schema != nil && req.Schema.Name == "result" {
					return scripted.Reply{Text: toJSON(arbiter.Result{Success: true, Output: strings.Repeat("It is done. ", 120)})}
				}
				return scripted.Reply{Text: toJSON(picks("Ada"))}
			}
			c := config()
			c.ID, c.MaxIterations, c.MaxTokens = "", 8, 600
			whole := stage.AssertNamedLimitSuffices(t, engine, limit, func(b *flow.Budget) flow.Config {
				c.Budget = b
				return c
			})
			assert.Equal(t, arbiter.EndIterations, whole.Reason)
		}))
	}
}
