package deliberation_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// TestAnEstimateCountsEveryCall, exactly where nothing depends on what is said.
func TestAnEstimateCountsEveryCall(t *testing.T) {
	const rounds = 3 + 2*9
	for name, test := range map[string]struct {
		change func(*deliberation.Config)
		calls  int
	}{
		"judge":       {func(*deliberation.Config) {}, rounds + 1},
		"voting":      {func(c *deliberation.Config) { c.Synthesis = "voting" }, rounds + 4 + 1},
		"merge":       {func(c *deliberation.Config) { c.Synthesis = "merge" }, rounds + 2 + 1},
		"registered":  {func(c *deliberation.Config) { c.Synthesis, c.Synthesizer = "registered", "own" }, rounds + 1},
		"convergence": {func(c *deliberation.Config) { c.Termination.Kind = "convergence" }, rounds + 1 + 1},
		"fresh":       {func(c *deliberation.Config) { c.Proposals = "fresh" }, rounds + 3 + 1},
		"ring":        {func(c *deliberation.Config) { c.Topology.Kind = "ring" }, 3 + 2*6 + 1},
		"summaries":   {func(c *deliberation.Config) { c.Summaries = deliberation.Summaries{} }, rounds + 3 + 1},
		"questions":   {func(c *deliberation.Config) { c.Clarification.On = true }, 3*3 + rounds + 1},
		"nobody there": {func(c *deliberation.Config) {
			c.Clarification.On, c.Unattended = true, true
		}, 3 + rounds + 1},
	} {
		t.Run(name, func(t *testing.T) {
			config := three()
			config.Summaries.Off = true
			test.change(&config)
			engine, p := engineFor(nil)
			engine.Functions = map[string]flow.Function{"own": ownSynthesizer()}
			got := stage.Estimated(t, engine, config)
			assert.Equal(t, test.calls, got.Calls)
			assert.Empty(t, p.Requests())
		})
	}
}

// TestAnEstimateIsNeverPassed by deliberations in which every reply is as long as it may get.
func TestAnEstimateIsNeverPassed(t *testing.T) {
	t.Parallel()
	for seed := range uint64(24) {
		rng := rand.New(rand.NewPCG(seed, 3))
		config := three()
		config.Rounds, config.MaxTokens = 1+rng.IntN(5), 200
		config.Synthesis = []string{"judge", "voting", "merge"}[rng.IntN(3)]
		config.Proposals = []string{"carry", "fresh"}[rng.IntN(2)]
		config.Topology.Kind = []string{"all", "ring"}[rng.IntN(2)]
		config.Termination.Kind = []string{"fixed", "convergence", "quality"}[rng.IntN(3)]
		config.Summaries = deliberation.Summaries{Threshold: 1 + rng.IntN(6000), MaxLength: 100 + rng.IntN(500)}
		config.FullHistory = []*bool{nil, new(true)}[rng.IntN(2)]
		engine, p := engineFor(nil)
		engine.Models = priced()
		p.Reply = script(func(call string, req *provider.Request) (scripted.Reply, bool) {
			reply := scripted.Reply{Text: usual(call, req)}
			if req.Schema == nil {
				reply.Text = said(call) + strings.Repeat("€", (8*200-len(said(call)))/3) // bytes count
			}
			reply.Usage = provider.Usage{Input: len(req.System) + len(req.Last.Text), Output: 200}
			return reply, true
		})
		most := stage.Estimated(t, engine, config)
		spent := play(t, engine, config).Spent()
		note := fmt.Sprintf("seed %d", seed)
		assert.LessOrEqual(t, spent.Requests, most.Calls, note)
		assert.LessOrEqual(t, spent.Cost, most.Cost, note)
		assert.LessOrEqual(t, spent.Usage.Input+spent.Usage.Output, most.Tokens, note)
		assert.Less(t, most.Cost, 6*spent.Cost, "%s: nor is it far from what can be", note)
	}
}

// TestABudgetIsCheckedBeforehand: a limit with which no call of the first round, or no solution, could be reserved is
// refused before anything is paid. One that is below the worst case is a warning at the start.
func TestABudgetIsCheckedBeforehand(t *testing.T) {
	for _, method := range []string{deliberation.SynthesisJudge, deliberation.SynthesisVoting, deliberation.SynthesisMerge} {
		config := three()
		config.Synthesis, config.Rounds = method, 3
		engine := plain()
		most := stage.Estimated(t, engine, config)
		assert.Positive(t, most.FirstRound, method)
		assert.Less(t, most.FirstRound, most.Cost, method)
		assert.Positive(t, most.Typical, method)
		assert.Less(t, most.Typical, most.Cost/2, method)

		config.Budget = &flow.Budget{Hard: flow.USD / 100}
		err := engine.Validate(t.Context(), config)
		var failure *flow.Error
		require.ErrorAs(t, err, &failure, method)
		assert.Equal(t, "budget.hard", failure.Field)

		config.Budget.Hard = most.Cost - 1
		r := limited(t, config)
		assert.Equal(t, flow.StateCompleted, r.State)
		require.NotEmpty(t, r.Warnings)
		assert.Equal(t, flow.WarnBudget, r.Warnings[0].Kind)
		assert.Contains(t, r.Warnings[0].Evidence, "is above budget.hard; the typical case is "+most.Typical.Rounded())
	}
}
