package arbiter_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// What has cut work short is the first thing that it says of itself, with the executions that have ended. A decision and an execution
// take a second each; two agents are selected at once where the config allows it.
func TestCutShortIsSaid(t *testing.T) {
	t.Parallel()
	const raise = `: raise it to about \S+( tokens| calls)?`
	soft := func(done, limit string) string { return done + " by the soft limit of " + limit + raise }
	hard := func(done, limit string) string { return done + " by the hard limit of " + limit + raise }
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
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				engine, p := engineFor(tc.own)
				reply := p.Reply
				p.Reply = func(req *provider.Request) scripted.Reply {
					r := reply(req)
					r.Delay, r.Usage = time.Second, provider.Usage{Input: 100_000, Output: 100}
					return r
				}
				c := config()
				if tc.change != nil {
					tc.change(&c)
				}
				session, err := engine.Start(t.Context(), c)
				require.NoError(t, err)
				defer session.Close()
				if tc.signal != nil {
					time.Sleep(3500 * time.Millisecond) //nolint:forbidigo // in a bubble nobody waits
					require.NoError(t, session.Control(t.Context(), tc.signal))
				}
				record, _ := session.WaitIdle(t.Context())
				w := workOf(t, record)
				assert.Regexp(t, "^"+tc.want+"$", w.CutShort())
				if tc.want == "" {
					return
				}
				assert.Equal(t, w.CutShort(), w.Degraded()[0])
				stored, err := engine.Record(t.Context(), record.ID)
				require.NoError(t, err)
				assert.Equal(t, w.CutShort(), stored.CutShort(), "the log alone says so")
			})
		})
	}
}

// Work that a limit has cut short says about how much would do. With that limit it has all its executions.
func TestTheLimitThatIsNamedSuffices(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]func(n int) flow.Budget{
		"soft":        func(n int) flow.Budget { return flow.Budget{Soft: flow.USD * flow.Money(n) / 1000} },
		"soft tokens": func(n int) flow.Budget { return flow.Budget{SoftTokens: 1000 * n} },
		"soft calls":  func(n int) flow.Budget { return flow.Budget{SoftCalls: n} },
		"hard":        func(n int) flow.Budget { return flow.Budget{Hard: flow.USD * flow.Money(n) / 1000} },
		"hard calls":  func(n int) flow.Budget { return flow.Budget{HardCalls: n} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
			for n := 1; ; n += 1 + n/16 {
				require.Less(t, n, 1000, "a limit is accepted")
				c.Budget = new(limit(n))
				if engine.Validate(t.Context(), c) == nil {
					break
				}
			}
			cut, _ := play(t, engine, c)
			require.NotEmpty(t, cut.Warnings)
			w := cut.Warnings[len(cut.Warnings)-1]
			require.Contains(t, cut.CutShort(), ": raise it to about ")
			b := c.Budget
			c.Budget = &flow.Budget{
				Soft: min(b.Soft, 1) * w.Needs, Hard: min(b.Hard, 1) * w.Needs, SoftTokens: w.NeedsTokens,
				SoftCalls: min(b.SoftCalls, 1) * w.NeedsCalls, HardCalls: min(b.HardCalls, 1) * w.NeedsCalls,
			}
			whole, err := play(t, engine, c)
			require.NoError(t, err)
			assert.Empty(t, whole.CutShort(), "%s", cut.CutShort())
			assert.Equal(t, arbiter.EndIterations, whole.Reason)
		})
	}
}
