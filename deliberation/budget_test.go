package deliberation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// TestEveryAcceptedSoftLimitGivesASolution: whatever the method asks for one after the other is kept back, so that a
// limit that the start accepts is never too low for the solution.
func TestEveryAcceptedSoftLimitGivesASolution(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	limits := map[string]func(n int) flow.Budget{
		"calls": func(n int) flow.Budget { return flow.Budget{SoftCalls: 12 + n, HardCalls: 12 + n} },
		"money": func(n int) flow.Budget {
			m := flow.USD * flow.Money(n) / 200
			return flow.Budget{Soft: m, Hard: m}
		},
		"tokens": func(n int) flow.Budget { return flow.Budget{SoftTokens: 4_000 * n, HardTokens: 4_000 * n} },
	}
	for _, method := range []string{deliberation.SynthesisJudge, deliberation.SynthesisVoting, deliberation.SynthesisMerge} {
		for measure, budget := range limits {
			for _, agents := range []int{3, 5}[:1+1/fewer] {
				t.Run(fmt.Sprintf("%s/%s/%d", method, measure, agents), func(t *testing.T) {
					ends := map[flow.EndReason]int{}
					for n := 1; n <= 66; n += 5 {
						config := three()
						for _, id := range []string{"dan", "eve"}[:agents-3] {
							config.Agents = append(config.Agents, deliberation.Agent{ID: id, Model: "test/agent"})
						}
						config.Rounds, config.Synthesis, config.Budget, config.MaxTokens = 3, method, new(budget(n)), 300
						config.Unattended, config.OnFailure = true, nil
						r, accepted := accounted(t, config)
						if !accepted {
							continue
						}
						require.Equal(t, flow.StateCompleted, r.State, "limit %d: %v", n, r.Failure)
						_, _, ok := solved(r)
						require.True(t, ok, "limit %d", n)
						ends[r.Reason]++
					}
					assert.Positive(t, ends[flow.EndSoftLimit])
				})
			}
		}
	}
}

// accounted plays a deliberation whose models report what they use, unless its budget is refused.
func accounted(t *testing.T, config deliberation.Config) (r *flow.Record, accepted bool) {
	t.Helper()
	engine, p := engineFor(nil)
	engine.Models = priced()
	p.Reply = script(func(call string, req *provider.Request) (scripted.Reply, bool) {
		reply := scripted.Reply{Text: usual(call, req)}
		if req.Schema == nil {
			reply.Text = said(call) + strings.Repeat(" word", 250)
		}
		reply.Usage = provider.Usage{Input: (len(req.System) + len(req.Last.Text)) / 4, Output: 260}
		return reply, true
	})
	if engine.Validate(t.Context(), config) != nil {
		return nil, false
	}
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	r, _ = session.Wait(t.Context())
	return r, true
}
