package flow_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// Who does not hold a debate brings what a host says, and nothing that only its holder can know.
func TestOnlyControlsAreNoted(t *testing.T) {
	l := stage.PlayedLog(t, stage.TwoDebaters())
	i := l.Index(t, flow.EventIntent, 0)
	call := body.As[flow.Intent](l.Events[i]).Call
	for name, signal := range map[string]flow.Signal{
		"result": flow.Result{Call: call, Attempt: 1, Text: "Mine."}, "failed": flow.Failed{Call: call, Attempt: 1},
		"lost": flow.Lost{Call: call, Attempt: 1}, "tick": flow.Tick{}, "start": flow.Start{}, "nothing": nil,
	} {
		t.Run(name, func(t *testing.T) {
			core := stage.CoreOf(t, l.Engine, l.ID, l.Events[:i+1])
			out, err := core.StepRemote(flow.Input{At: time.Now(), Signal: signal})
			stage.RequireKind(t, err, provider.KindValidation)
			assert.Empty(t, out)
			out, err = core.StepRemote(flow.Input{At: time.Now(), Signal: flow.Pause{}})
			require.NoError(t, err, "and the core goes on")
			assert.NotEmpty(t, out.Events)
			assert.Empty(t, out.Start)
		})
	}
}

// Outcomes that come together count together: none does if one of them is no outcome.
func TestWhatIsNoOutcomeIsRefusedWithThoseBesideIt(t *testing.T) {
	l := stage.PlayedLog(t, stage.TwoDebaters())
	i := l.Index(t, flow.EventIntent, 0)
	call := body.As[flow.Intent](l.Events[i]).Call
	said := flow.Result{Call: call, Attempt: 1, Text: "Mine."}
	core := stage.CoreOf(t, l.Engine, l.ID, l.Events[:i+1])
	for _, signal := range []flow.Signal{
		flow.Pause{}, flow.Outcomes{said}, nil, flow.GivenUp{}, flow.GivenUp{Outcome: flow.Lost{Call: call, Attempt: 1}},
	} {
		out, err := core.Step(flow.Input{At: time.Now(), Signal: flow.Outcomes{said, signal}})
		stage.RequireKind(t, err, provider.KindValidation)
		assert.Empty(t, out)
	}
	out, err := core.Step(flow.Input{At: time.Now(), Signal: flow.Outcomes{said}})
	require.NoError(t, err, "and the core goes on")
	assert.NotEmpty(t, out.Events)
}

// A log that cannot be folded ends its core: whatever it says from then on would be made up.
func TestACoreWhoseLogIsBrokenSaysNothingMore(t *testing.T) {
	l := stage.PlayedLog(t, stage.TwoDebaters())
	i := l.Index(t, flow.EventIntent, 0)
	core := stage.CoreOf(t, l.Engine, l.ID, l.Events[:i])
	broken := core.Fold(l.Events[i+1]) // one is left out
	require.ErrorContains(t, broken, "event")
	assert.Equal(t, broken, core.Fold(l.Events[i]))
	_, err := core.Step(flow.Input{At: time.Now(), Signal: flow.Tick{}})
	assert.Equal(t, broken, err)
	_, err = core.StepRemote(flow.Input{At: time.Now(), Signal: flow.Pause{}})
	assert.Equal(t, broken, err)
}

// What another process has appended makes the same core as the whole log does.
func TestFoldingOneByOneIsFoldingAtOnce(t *testing.T) {
	l := stage.PlayedLog(t, stage.TwoDebaters())
	whole := stage.CoreOf(t, l.Engine, l.ID, l.Events)
	grown := stage.CoreOf(t, l.Engine, l.ID, l.Events[:1])
	for _, event := range l.Copied(t)[1:] {
		require.NoError(t, grown.Fold(event))
	}
	left, err := stage.View(whole.Record()).Canonical()
	require.NoError(t, err)
	right, err := stage.View(grown.Record()).Canonical()
	require.NoError(t, err)
	assert.JSONEq(t, string(left), string(right))
}

// Until it starts, a debate may become one of any flow; its runtime need not know of which.
func TestACoreTakesTheFlowOfItsConfig(t *testing.T) {
	engine := stage.WorkshopEngine(stage.ToolAsker(), 1, nil)
	config := stage.ToolUsers()
	config.Tools = nil
	start, err := kernel.Of(t, engine).Freeze(stage.InFlow(engine, config))
	require.NoError(t, err)
	step := func(core *flow.Core, signals ...flow.Signal) error {
		for _, signal := range signals {
			if _, err := core.Step(flow.Input{At: time.Now(), Signal: signal}); err != nil {
				return err
			}
		}
		return nil
	}
	core := stage.CoreOf(t, engine, "new", nil)
	require.NoError(t, step(core, flow.Edit{Config: stage.InFlow(engine, config)}, flow.Validate{}, flow.Validated{OK: true}, start))
	assert.Equal(t, debate.State("working"), core.Record().State)
	assert.Equal(t, 2, core.Record().InFlight())

	core = stage.CoreOf(t, engine, "other", nil)
	err = step(core, flow.Edit{Config: stage.TwoDebaters()}, flow.Validate{}, flow.Validated{OK: true}, start)
	assert.Equal(t, "flow", stage.RequireKind(t, err, provider.KindValidation).Field)
}

// Some servers number the uses of each reply anew. Every use of a request has an id of its own, and thousands of one id are no more work than
// others.
func TestUsesHaveIDsOfTheirOwn(t *testing.T) {
	assert.Equal(t, []string{"x", "x_2", "x_3", "y", "x_4"}, flow.UniqueIDs("x", "x_2", "x", "y", "x"))
	same := slices.Repeat([]string{"call_0"}, 2000)
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(flow.UniqueIDs(same...)))), len(same))
	assert.Less(t, testing.AllocsPerRun(1, func() { flow.UniqueIDs(same...) }), 20_000.0)
}
