package deliberation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
)

func TestTheWholeFlow(t *testing.T) {
	engine, p := engineFor(nil)
	r := play(t, engine, three())
	require.Equal(t, flow.StateCompleted, r.State)
	assert.Equal(t, flow.EndRounds, r.Reason)
	assert.Empty(t, r.Warnings)
	assert.Len(t, p.Requests(), 3+2*(6+3)+1)
	got, by, ok := solved(r)
	require.True(t, ok)
	assert.Equal(t, "judge", by)
	assert.Equal(t, solution("The solution of synthesis."), *got)
	assert.Equal(t, []string{
		"start → initializing", "initialized → clarifying", "allClear → planningRound",
		"beginRound → summarizing", "contextsReady → proposing (3)", "proposed → critiquing (6)", "critiqued → refining (3)",
		"refined → evaluating", "continue → planningRound",
		"beginRound → summarizing", "contextsReady → proposing", "proposed → critiquing (6)", "critiqued → refining (3)",
		"refined → evaluating", "continue → planningRound",
		"maxRoundsReached → completing (1)", "completed → completed",
	}, path(events(t, engine, r.ID)))
}
