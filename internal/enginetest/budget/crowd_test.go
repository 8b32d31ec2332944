package budget_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// Near a limit, tokens are counted. In a crowd, whose solution reads all that was said, each result makes that longer: what was counted
// before is not counted again, so the limit costs little time.
func TestACrowdNearItsLimitIsCountedOnce(t *testing.T) {
	p := pieces()["deliberation"]
	config := p.config
	p.config = func(model string, rounds int, b *flow.Budget) flow.Config {
		c, _ := config(model, rounds, b).(deliberation.Config)
		c.Agents = nil
		for i := range 30 {
			c.Agents = append(c.Agents, deliberation.Agent{ID: fmt.Sprintf("a%d", i), Role: deliberation.RoleGeneralist, Model: model})
		}
		return c
	}
	reply := p.reply
	p.reply = func(rounds int) func(req *provider.Request) string {
		usual := reply(rounds)
		return func(req *provider.Request) string {
			if req.Schema == nil {
				return fmt.Sprintf("%s says:\n\n%s", stage.CallOf(req), strings.ReplaceAll(words(lengthOf(req)), "there. ", "there.\n\n"))
			}
			return usual(req)
		}
	}
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
