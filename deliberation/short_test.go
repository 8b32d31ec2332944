package deliberation_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// What has cut a deliberation short is the first thing that it says of itself, in one sentence. The first round of three agents has
// twelve calls, and each of the others nine.
func TestCutShortIsSaid(t *testing.T) {
	t.Parallel()
	soft, hard, kept := stage.SoftLimit, stage.HardLimit, stage.KeptLimit
	type config = deliberation.Config
	budget := func(b flow.Budget) func(*config) { return func(c *config) { c.Budget = &b } }
	refuses := func(call string) answers {
		return func(asked string, _ *provider.Request) (scripted.Reply, bool) {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal}}, asked == call
		}
	}
	twice := func(asked string, req *provider.Request) (scripted.Reply, bool) { // the first attempt at a call is in vain
		return scripted.Reply{Err: &provider.Error{Kind: provider.KindAPI}}, asked == "r1.propose.cyd" && strings.HasSuffix(req.ID, "/1")
	}
	for name, tc := range map[string]struct {
		change func(*config)
		own    answers
		at     string      // the first call whose ID begins with this is held until signal was sent
		signal flow.Signal // nil: none
		want   string      // of the whole sentence; "": nothing was cut
	}{
		"nothing":        {},
		"in a round":     {change: budget(flow.Budget{SoftCalls: 13}), want: soft(`ended after 1 of 2 rounds`, `13 calls`)},
		"at its end":     {change: budget(flow.Budget{SoftCalls: 12}), want: soft(`ended after 1 of 2 rounds`, `12 calls`)},
		"one call less":  {change: budget(flow.Budget{SoftCalls: 12}), own: twice, want: soft(`ended after 0 of 2 rounds`, `12 calls`)},
		"all it asks":    {change: budget(flow.Budget{SoftCalls: 21})},
		"all but one":    {change: budget(flow.Budget{SoftCalls: 20}), want: soft(`ended after 1 of 2 rounds`, `20 calls`)},
		"the only round": {change: func(c *config) { c.Rounds, c.Budget = 1, &flow.Budget{SoftCalls: 12} }},
		"a part of it": {
			change: func(c *config) { c.Rounds, c.Budget = 1, &flow.Budget{SoftCalls: 12} }, own: twice,
			want: soft(`ended after 0 of 1 round`, `12 calls`),
		},
		"the judge": {
			change: func(c *config) {
				c.Termination.Kind, c.Budget = deliberation.TerminationConvergence, &flow.Budget{SoftCalls: 13}
			},
			own: twice, want: soft(`ended after 1 of 2 rounds`, `13 calls`),
		},
		"tokens": {change: budget(flow.Budget{SoftTokens: 350_000}), want: soft(`ended after 0 of 2 rounds`, `350000 tokens`)},
		"money":  {change: budget(flow.Budget{Soft: flow.USD}), want: soft(`ended after 1 of 2 rounds`, `\$1`)},
		"time": {
			change: budget(flow.Budget{SoftTime: 1}),
			want:   `ended after 0 of 2 rounds because the time was over: raise softTime \(.* of 1ns\)`,
		},
		"kept": {change: budget(flow.Budget{SoftTime: time.Hour, HardCalls: 15}), want: kept(`ended after 1 of 2 rounds`, `15 calls`)},
		"hard": {change: budget(flow.Budget{HardCalls: 14}), want: hard(`stopped after 1 of 2 rounds`, `14 calls`)},
		"stop": {at: "r2.", signal: flow.Stop{Reason: "enough"}, want: `ended after 1 of 2 rounds: stopped by the host: enough`},
		"between phases": {
			change: digesting, own: sized(func(string) int { return 3000 }), at: "r2.refine", signal: flow.Stop{},
			want: `ended after 1 of 3 rounds: stopped by the host`,
		},
		"in the solution": {
			change: func(c *config) { c.Rounds = 1 }, own: refuses("r1.propose.cyd"), at: "synthesis", signal: flow.Cancel{},
			want: `ended after 1 of 1 round: canceled by the host`,
		},
		"rule": {
			change: func(c *config) { c.OnFailure = []flow.FailureRule{{Do: flow.OptionEnd}} }, own: refuses("r1.critique.ada.ben"),
			want: `ended after 0 of 2 rounds by a rule after a failure: debate: refusal.*`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reached, leave, once := make(chan struct{}), make(chan struct{}), sync.Once{}
			engine, p := engineFor(tc.own)
			engine.Models = priced()
			reply := p.Reply
			p.Reply = func(req *provider.Request) scripted.Reply {
				if tc.signal != nil && strings.HasPrefix(callOf(req), tc.at) {
					once.Do(func() { close(reached) })
					<-leave
				}
				r := reply(req)
				r.Usage = provider.Usage{Input: 100_000, Output: 100}
				return r
			}
			config := three()
			if tc.change != nil {
				tc.change(&config)
			}
			session := stage.Started(t, engine, config)
			if tc.signal != nil {
				<-reached
				require.NoError(t, session.Control(t.Context(), tc.signal))
				close(leave)
			}
			record, _ := session.Wait(t.Context())
			stage.AssertCut(t, engine, record, view(record).Degraded(), tc.want)
			if tc.want == "" {
				assert.Empty(t, view(record).Degraded())
			}
		})
	}
}

// digesting makes a deliberation of three rounds summarise what was said before.
func digesting(c *deliberation.Config) {
	c.Rounds, c.FullHistory, c.Summaries = 3, new(true), deliberation.Summaries{Threshold: 1, MaxLength: 100}
}

// A deliberation that a limit has cut short says about how much would do. With that limit it has all its rounds.
func TestTheLimitThatIsNamedSuffices(t *testing.T) {
	t.Parallel()
	limits := stage.Limits()
	limits["kept"] = func(n int) flow.Budget { return flow.Budget{Hard: flow.USD * flow.Money(n) / 1000, SoftCalls: 1000} }
	limits["kept tokens"] = func(n int) flow.Budget { return flow.Budget{HardTokens: 1000 * n, SoftCalls: 1000} }
	limits["kept calls"] = func(n int) flow.Budget { return flow.Budget{HardCalls: n, Soft: 100 * flow.USD} }
	for name, limit := range limits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			engine, _ := engineFor(sized(func(string) int { return 1600 }))
			engine.Models = priced()
			config := three()
			config.Rounds, config.MaxTokens = 4, 600
			whole := stage.AssertNamedLimitSuffices(t, engine, limit, func(b *flow.Budget) flow.Config {
				config.Budget = b
				return config
			})
			assert.Equal(t, flow.EndRounds, whole.Reason)
		})
	}
}
