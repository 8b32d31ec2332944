package arbiter_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/flowtest"
	"github.com/agonist-dev/debate/internal/stage"
)

// byHand starts work whose steps are made by hand.
func byHand(t *testing.T, edit func(*arbiter.Config)) *flowtest.Hand {
	t.Helper()
	engine, _ := engineFor(nil)
	c := config()
	edit(&c)
	return flowtest.Begin(t, engine, c)
}

func workOf(t *testing.T, r *flow.Record) *arbiter.Work {
	t.Helper()
	w, ok := arbiter.Of(r)
	require.True(t, ok)
	return w
}

// A cancel ends an execution, also in the middle.
func TestCanceledWork(t *testing.T) {
	h := byHand(t, func(*arbiter.Config) {})
	h.Say("d1", toJSON(picks("Ada")))
	require.Equal(t, "Ada", workOf(t, h.Record()).Current()[0].Name)
	h.Do(flow.Cancel{})
	w := workOf(t, h.Reload())
	assert.Equal(t, flow.StateCanceled, w.State)
	assert.Equal(t, arbiter.Cancelled, w.Executions()[0].Result)
	assert.False(t, w.Executions()[0].EndedAt.Before(w.Executions()[0].StartedAt))
	assert.Empty(t, w.Current())
}

// After too many failures in a row somebody may let the work go on: the row begins anew, and the total is kept.
func TestARetryBeginsToCountAnew(t *testing.T) {
	h := byHand(t, func(c *arbiter.Config) { c.MaxFailures = 1 })
	h.Say("d1", toJSON(picks("Ada")))
	h.Say("r1.Ada", toJSON(fails("no time")))
	require.Equal(t, flow.StateError, h.Record().State)
	require.ErrorContains(t, h.Record().Failure, "1 failures in a row: Ada: no time")
	h.Do(flow.Retry{})
	total, row := workOf(t, h.Record()).Failures()
	assert.Equal(t, []int{1, 0}, []int{total, row})
	assert.Equal(t, arbiter.StateSelecting, h.Reload().State)
}

// Whoever wants to begin anew forks the work before its first event.
func TestAForkAtTheBeginningIsAReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p := engineFor(nil)
		session, err := engine.Start(t.Context(), config())
		require.NoError(t, err)
		defer session.Close()
		stage.Ended(t, session)
		made := p.Calls()
		fork, err := engine.Fork(t.Context(), "work", 0, debate.Editing(func(c *arbiter.Config) { c.Task = "Write another function." }))
		require.NoError(t, err)
		defer fork.Close()
		record := stage.Ended(t, fork)
		w := workOf(t, record)
		assert.Equal(t, "Write another function.", w.Config().Task)
		assert.Len(t, w.Executions(), 3)
		assert.Equal(t, 2*made, p.Calls(), "all is done anew")
	})
}

// Running work shares nothing with its host's config.
func TestTheHostsConfigIsCopied(t *testing.T) {
	var mine *arbiter.Config
	h := byHand(t, func(c *arbiter.Config) {
		c.Agents[0].Fallbacks, c.Agents[0].Metadata = []string{"test/n"}, map[string]string{"team": "blue"}
		c.Arbiter.Fallbacks, c.Temperature = []string{"test/n"}, new(0.5)
		copied := *c
		mine = &copied
	})
	mine.Agents[0].Fallbacks[0], mine.Agents[0].Metadata["team"], mine.Arbiter.Fallbacks[0], *mine.Temperature = "x", "x", "x", 2
	mine.Agents[0].Name = "x"
	c := workOf(t, h.Record()).Config()
	assert.NotContains(t, toJSON(c), `"x"`)
	assert.InDelta(t, 0.5, *c.Temperature, 0)
}

func TestDefaults(t *testing.T) {
	h := byHand(t, func(*arbiter.Config) {})
	c := workOf(t, h.Record()).Config()
	assert.Equal(t, []int{50, 3, 1, 10}, []int{c.MaxIterations, c.MaxFailures, c.Parallel, c.Agents[0].MaxIterations})
	assert.Equal(t, 10*time.Minute, c.Patience)
	assert.InDelta(t, 0.2, *c.Arbiter.Temperature, 0)
}
