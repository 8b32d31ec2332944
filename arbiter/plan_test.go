package arbiter_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
)

// What agents report of the plan at the same time is merged in the order of their selection, whoever was faster.
func TestPlansOfAgentsAreMerged(t *testing.T) {
	at, done := 1, true
	one := planned("think", "write")
	one.PlanUpdates.IsComplete = &done
	two := planned("test", "ship")
	two.PlanUpdates.CurrentStepIndex = &at
	engine, _ := engineFor(answers{"d1": picks("Ada", "Ben"), "r1.Ada": one, "r1.Ben": two, "d2": completes("Done.")})
	c := config()
	c.Parallel = 2
	w := worked(t, engine, c)
	plan := w.Plan()
	require.Len(t, plan.Steps, 4)
	for i, want := range []string{"think", "write", "test", "ship"} {
		assert.Equal(t, arbiter.Step{Index: i, Description: want, Status: arbiter.Pending}, plan.Steps[i])
	}
	assert.Equal(t, 3, plan.CurrentStepIndex) // Ben's second
	assert.False(t, plan.IsComplete)
}

// A log may hold plans that no agent could have reported.
func TestHostilePlansInALog(t *testing.T) {
	for _, index := range []int{math.MaxInt, math.MinInt, -1, 200, 1 << 40} {
		engine, _ := engineFor(answers{"d1": picks("Ada", "Ben"), "r1.Ada": planned("think"), "r1.Ben": planned("test"), "d2": completes("Done.")})
		c := config()
		c.Parallel = 2
		worked(t, engine, c)
		var events []flow.Event
		for event, err := range engine.Store.Read(t.Context(), "work", 0) {
			require.NoError(t, err)
			if turn, ok := event.Body.(*flow.Turn); ok && turn.Speaker == "Ben" {
				hostile := *turn
				result := planned("test")
				result.PlanUpdates.Steps[0].Index, result.PlanUpdates.CurrentStepIndex = index, &index
				hostile.Data = []byte(toJSON(result))
				event.Body = &hostile
			}
			events = append(events, event)
		}
		core := stage.CoreOf(t, engine, "work", events)
		w, _ := arbiter.Of(core.Record())
		assert.LessOrEqual(t, len(w.Plan().Steps), 2)
	}
}
