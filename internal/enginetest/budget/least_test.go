package budget_test

import (
	"encoding/json"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// least returns the lowest limit up to most that is not refused.
func least(t *testing.T, engine *debate.Engine, config debate.Config, most int64, limit func(int64) debate.Budget) int64 {
	t.Helper()
	lowest := sort.Search(int(most), func(n int) bool {
		config.Budget = new(limit(int64(n) + 1))
		return engine.Validate(t.Context(), config) == nil
	})
	return int64(lowest) + 1
}

// A limit is refused only if the first round and the verdict do not fit with usual replies: with the lowest that is not refused a debate
// comes to its verdict, if its calls use no more.
func TestALimitIsRefusedOnlyIfNothingCanComeOfIt(t *testing.T) {
	config := stage.TwoDebaters()
	config.Rounds = 1
	engine, _ := stage.Engine(config)
	estimate := stage.Estimated(t, engine, config)
	frugal := func() *debate.Engine {
		engine, p := stage.Engine(config)
		stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
			if req.Schema == nil {
				r.Text = "So."
			}
			r.Usage = provider.Usage{Input: 1, Output: 1}
		})
		return engine
	}
	for name, c := range map[string]struct {
		field string
		most  int64 // what a whole debate of one round may use
		limit func(int64) debate.Budget
		exact int64 // 0: not known beforehand
	}{
		"cost":   {"budget.hard", int64(estimate.Cost), func(n int64) debate.Budget { return debate.Budget{Hard: debate.Money(n)} }, 0},
		"tokens": {"budget.hardTokens", int64(estimate.Tokens), func(n int64) debate.Budget { return debate.Budget{HardTokens: int(n)} }, 0},
		"calls":  {"budget.hardCalls", 10, func(n int64) debate.Budget { return debate.Budget{HardCalls: int(n)} }, 4},
		"cost beside a soft limit": {"budget.hard", 3 * int64(estimate.Cost), func(n int64) debate.Budget {
			return debate.Budget{Hard: debate.Money(n), SoftCalls: 1000}
		}, 0},
		"calls beside a soft limit": {"budget.hardCalls", 10, func(n int64) debate.Budget {
			return debate.Budget{HardCalls: int(n), Soft: estimate.Cost}
		}, 4},
		"soft cost":  {"budget.soft", int64(estimate.Cost), func(n int64) debate.Budget { return debate.Budget{Soft: debate.Money(n)} }, 0},
		"soft calls": {"budget.softCalls", 10, func(n int64) debate.Budget { return debate.Budget{SoftCalls: int(n)} }, 3},
	} {
		t.Run(name, func(t *testing.T) {
			config := config
			lowest := least(t, engine, config, c.most, c.limit)
			assert.True(t, c.exact == 0 || lowest == c.exact, "%d", lowest)
			assert.Less(t, lowest, c.most/2+3, "far below the worst case")
			config.Budget = new(c.limit(lowest - 1))
			if lowest > 1 {
				assert.Equal(t, []string{c.field}, stage.FieldsOf(t, engine.Validate(t.Context(), config)))
			}
			config.Budget = new(c.limit(lowest + lowest/50)) // what little is said and paid counts too
			record := stage.Run(t, frugal(), config)
			assert.Len(t, record.Turns, 2)
			assert.NotNil(t, stage.View(record).Assessments)
			assert.NotNil(t, stage.View(record).Verdict)
		})
	}
}

// An error that refuses a limit names the least one, rounded for people. Whoever sets that is not refused again.
func TestTheLeastLimitThatIsNamedIsEnough(t *testing.T) {
	for name, limit := range map[string]func(debate.Money) debate.Budget{
		"hard":               func(m debate.Money) debate.Budget { return debate.Budget{Hard: m} },
		"soft":               func(m debate.Money) debate.Budget { return debate.Budget{Soft: m} },
		"hard beside a soft": func(m debate.Money) debate.Budget { return debate.Budget{Hard: m, SoftCalls: 1000} },
	} {
		t.Run(name, func(t *testing.T) {
			for price := range debate.Money(10) {
				config := stage.TwoDebaters()
				engine, _ := stage.Engine(config)
				engine.Models["test/judge"] = debate.Model{Priced: true, Input: 3_000_000 + 1234*price, Output: 9_000_000}
				config.Budget = new(limit(1))
				named := regexp.MustCompile(`replies: \$([0-9.]+) of `).FindStringSubmatch(engine.Validate(t.Context(), config).Error())
				require.Len(t, named, 2)
				assert.LessOrEqual(t, len(strings.TrimLeft(named[1], "0.")), 4, named[1])
				var least debate.Money
				require.NoError(t, json.Unmarshal([]byte(named[1]), &least))
				config.Budget = new(limit(least))
				require.NoError(t, engine.Validate(t.Context(), config))
			}
		})
	}
}

// A debate whose worst case is above a limit says so when it starts, with the worst and the typical case.
func TestALimitBelowTheWorstCaseIsAWarning(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	estimate := stage.Estimated(t, engine, config)
	assert.Positive(t, estimate.Typical)
	assert.Less(t, estimate.Typical, estimate.Cost/2)
	assert.Less(t, estimate.TypicalTokens, estimate.Tokens/2)
	for name, c := range map[string]struct {
		budget debate.Budget
		fields string // "": no warning
	}{
		"holds the worst case": {debate.Budget{Hard: estimate.Cost, HardTokens: estimate.Tokens, HardCalls: estimate.Calls}, ""},
		"only a warning":       {debate.Budget{Warn: 1}, ""},
		"a hard one":           {debate.Budget{Hard: estimate.Cost - 1}, "budget.hard"},
		"a soft one":           {debate.Budget{Soft: estimate.Cost - 1}, "budget.soft"},
		"several": {
			debate.Budget{Hard: estimate.Cost - 1, HardTokens: estimate.Tokens - 1, SoftCalls: estimate.Calls - 1},
			"budget.hard and budget.hardTokens and budget.softCalls",
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := config
			config.Budget = &c.budget
			record := stage.Run(t, engine, config)
			var found []string
			for _, w := range record.Warnings {
				if w.Kind == flow.WarnBudget {
					found = append(found, w.Evidence)
				}
			}
			if c.fields == "" {
				assert.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			assert.Contains(t, found[0], "is above "+c.fields+";")
			assert.Contains(t, found[0], "the worst case, "+estimate.Cost.Rounded()+",")
			assert.Contains(t, found[0], "the typical case is "+estimate.Typical.Rounded()+" ")
			assert.Equal(t, 1, strings.Count(found[0], "worst"))
		})
	}
}
