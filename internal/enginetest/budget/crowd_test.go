package budget_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// crowd is a deliberation of so many agents, whose speeches have several paragraphs.
func crowd(agents int) piece {
	p := pieces()["deliberation"]
	config, reply := p.config, p.reply
	p.config = func(model string, rounds int, b *flow.Budget) flow.Config {
		c, _ := config(model, rounds, b).(deliberation.Config)
		c.Agents = nil
		for i := range agents {
			c.Agents = append(c.Agents, deliberation.Agent{ID: fmt.Sprintf("a%d", i), Role: deliberation.RoleGeneralist, Model: model})
		}
		return c
	}
	p.reply = func(rounds int) func(req *provider.Request) string {
		usual := reply(rounds)
		return func(req *provider.Request) string {
			if req.Schema == nil {
				return fmt.Sprintf("%s says:\n\n%s", stage.CallOf(req), strings.ReplaceAll(words(lengthOf(req)), "there. ", "there.\n\n"))
			}
			return usual(req)
		}
	}
	return p
}

// Near a limit, tokens are counted. In a crowd, whose solution reads all that was said, each result makes that longer: what was counted
// before is not counted again, so the limit costs little time.
func TestACrowdNearItsLimitIsCountedOnce(t *testing.T) {
	p := crowd(longform.Sized(30, 30, 10))
	began := time.Now()
	free, _, _ := played(t, p, "openai/gpt-4.1", 1, nil)
	alone := time.Since(began)
	cost := free.Spent().Cost
	enough := cost + cost*3/10
	began = time.Now()
	record, most, refused := played(t, p, "openai/gpt-4.1", 1, &flow.Budget{Soft: enough, Hard: enough})
	limited := time.Since(began)
	require.NoError(t, refused)
	assert.Equal(t, flow.StateCompleted, record.State)
	assert.Len(t, record.Turns, len(free.Turns))
	assert.LessOrEqual(t, most, enough)
	assert.Less(t, limited, 4*alone, "of which the vendor's own counting is the most")
	t.Logf("%d turns: %s without a limit, %s near it", len(free.Turns), alone, limited)
}

// The work for a call grows with the agents at most, and not with their calls, of which there is one for each pair: near a limit, far from
// one, and without one. Work is counted in allocations. Three times as many agents may take three times as many for each turn; what is done
// anew for each pair takes nine times as many.
//
//nolint:paralleltest // it counts what the process allocates
func TestTheWorkForACallOfACrowdGrowsWithTheAgents(t *testing.T) {
	longform.Lone(t)
	const model, few, many = "openai/gpt-4.1", 10, 30
	var costs [many + 1]flow.Money
	each := func(agents int, b *flow.Budget) float64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		record, _, refused := played(t, crowd(agents), model, 1, b)
		runtime.ReadMemStats(&after)
		require.NoError(t, refused)
		require.Equal(t, flow.StateCompleted, record.State, record.CutShort())
		require.Empty(t, record.CutShort())
		costs[agents] = record.Spent().Cost
		return float64(after.Mallocs-before.Mallocs) / float64(len(record.Turns))
	}
	each(few, nil) // vocabularies are read once
	for _, tc := range []struct {
		name   string
		budget func(cost flow.Money) *flow.Budget // after the first row, which tells the costs
	}{
		{"without a limit", func(flow.Money) *flow.Budget { return nil }},
		{"far from a limit", func(cost flow.Money) *flow.Budget { return &flow.Budget{Soft: 100 * cost, Hard: 100 * cost} }},
		{"near a limit", func(cost flow.Money) *flow.Budget {
			return &flow.Budget{Soft: cost + cost*3/10, Hard: cost + cost*3/10}
		}},
	} {
		one := each(few, tc.budget(costs[few]))
		another := each(many, tc.budget(costs[many]))
		t.Logf("%s: %.0f allocations a turn of %d agents, %.0f of %d", tc.name, one, few, another, many)
		assert.Less(t, another, 4.5*one, tc.name)
	}
}
