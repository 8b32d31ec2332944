package budget_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A debate that a limit has cut short says about how much would do. With that limit it has all its rounds, and no more than a few times
// the least that would do is named.
func TestTheLimitThatIsNamedSuffices(t *testing.T) {
	t.Parallel()
	config := stage.TwoDebaters()
	config.Format, config.Rounds, config.MaxTokens = format.FreeForm, 5, 1000
	for _, reply := range []int{1600, 3200} { // bytes of a speech
		engine, p := stage.Engine(config)
		stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
			if r.Usage = (provider.Usage{}); req.Schema == nil {
				r.Text += strings.Repeat(" So it is.", reply/10)
			}
		})
		estimate := stage.Estimated(t, engine, config)
		for name, limit := range map[string]struct {
			most   int64
			budget func(int64) debate.Budget
		}{
			"soft":        {int64(estimate.Cost), func(n int64) debate.Budget { return debate.Budget{Soft: debate.Money(n)} }},
			"soft tokens": {int64(estimate.Tokens), func(n int64) debate.Budget { return debate.Budget{SoftTokens: int(n)} }},
			"soft calls":  {20, func(n int64) debate.Budget { return debate.Budget{SoftCalls: int(n)} }},
			"hard":        {int64(estimate.Cost), func(n int64) debate.Budget { return debate.Budget{Hard: debate.Money(n)} }},
			"hard tokens": {int64(estimate.Tokens), func(n int64) debate.Budget { return debate.Budget{HardTokens: int(n)} }},
			"hard calls":  {20, func(n int64) debate.Budget { return debate.Budget{HardCalls: int(n)} }},
			"kept": {3 * int64(estimate.Cost), func(n int64) debate.Budget {
				return debate.Budget{Hard: debate.Money(n), SoftCalls: 1000}
			}},
			"kept tokens": {3 * int64(estimate.Tokens), func(n int64) debate.Budget {
				return debate.Budget{HardTokens: int(n), SoftCalls: 1000}
			}},
			"kept calls": {20, func(n int64) debate.Budget { return debate.Budget{HardCalls: int(n), Soft: 100 * debate.USD} }},
		} {
			t.Run(name, func(t *testing.T) {
				config := config
				lowest := least(t, engine, config, limit.most, limit.budget)
				lowest += lowest / 20 // what little is said and paid counts too
				needs := func(n int64) (int64, *debate.Record) {
					config.Budget = new(limit.budget(n))
					session, err := engine.Start(t.Context(), config)
					require.NoError(t, err)
					defer session.Close()
					record, _ := session.Wait(t.Context())
					for _, w := range record.Warnings {
						if w.Kind == flow.WarnSoft || w.Kind == flow.WarnHard {
							assert.Contains(t, record.CutShort(), ": raise it to about ")
							return max(int64(w.Needs), int64(w.NeedsTokens), int64(w.NeedsCalls)), record
						}
					}
					return 0, record
				}
				named, record := needs(lowest)
				require.Greater(t, named, lowest, record.CutShort())
				again, whole := needs(named)
				assert.Zero(t, again, "%d of which %d were named: %s", lowest, named, whole.CutShort())
				assert.Equal(t, flow.EndRounds, whole.Reason)
				assert.Empty(t, whole.CutShort())
				if less, _ := needs(max(lowest, named/4)); less == 0 {
					assert.Fail(t, "too much is named", "%d, and a quarter of it would do", named)
				}
			})
		}
	}
}
