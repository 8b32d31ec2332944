package temporal_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/runtime/temporal"
)

// rest returns what a run that continues as new leaves to the next one, and whether it does.
func (s *scene) rest() (more map[string]any, continued bool) {
	s.t.Helper()
	var again *workflow.ContinueAsNewError
	if !errors.As(s.env.GetWorkflowError(), &again) {
		return nil, false
	}
	require.NoError(s.t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &more))
	return more, true
}

// suggestContinuing tells the workflow, before the outcome of the present activity, that its history has grown long.
func (s *scene) suggestContinuing() {
	s.env.RegisterDelayedCallback(func() { s.env.SetContinueAsNewSuggested(true) }, 0) // in the goroutine of the workflow
}

// A history that grows long continues as new, between calls, as often as it takes. Nothing is asked twice, and no call is lost.
func TestManyRunsOfOneDebate(t *testing.T) {
	for name, change := range map[string]func(*debate.Config){
		"sequential":   nil,
		"simultaneous": func(c *debate.Config) { c.Mode = debate.Simultaneous },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, change)
			var asked sync.Map
			before(s.script, func(id string) {
				_, twice := asked.LoadOrStore(id, true)
				assert.False(t, twice, id)
			})
			var more any
			runs := 0
			for {
				var calls atomic.Int32
				s.around("debate.call", func(run func() (any, error), _ any) (any, error) {
					if calls.Add(1) == 2 {
						s.suggestContinuing()
					}
					return run()
				})
				s.run(more)
				left, continued := s.rest()
				if !continued {
					break
				}
				runs, more = runs+1, left
				s.renew()
			}
			assert.GreaterOrEqual(t, runs, 3)
			assert.Equal(t, flow.StateCompleted, s.result().State)
			assert.Zero(t, s.losses())
			assert.Equal(t, s.undisturbed(), stage.Canonical(t, s.record()))
		})
	}
}

// What comes while a run is about to continue as new is not lost: a signal, an update, a look that is due later, a wait.
func TestNothingIsLostBetweenRuns(t *testing.T) {
	s := newScene(t, nil)
	var once sync.Once
	given := &updated{}
	s.around("debate.call", func(run func() (any, error), _ any) (any, error) {
		once.Do(func() {
			s.env.SignalWorkflow(temporal.LookName, temporal.Look{After: time.Hour})
			s.suggestContinuing()
			s.env.SignalWorkflow(temporal.ControlName, temporal.Control{Action: temporal.ActionPause, Drain: true})
			s.env.UpdateWorkflow(temporal.ControlName, "u", given, temporal.Control{Action: temporal.ActionPause, Reason: "twice"})
		})
		return run()
	})
	s.run(nil)
	more, continued := s.rest()
	require.True(t, continued, s.env.GetWorkflowError())
	assert.Equal(t, 1, s.entered(flow.StatePaused))
	assert.True(t, given.status != nil || given.failed != nil, "the update has its answer")
	assert.NotEmpty(t, more["look"])
	assert.NotEmpty(t, more["owner"])

	s.renew()
	s.env.RegisterDelayedCallback(func() {
		assert.Equal(t, flow.StatePaused, s.status().State)
		require.NoError(t, s.engine.Control(t.Context(), s.config.ID, flow.Resume{}))
	}, 30*time.Minute)
	s.run(more)
	assert.Equal(t, flow.StateCompleted, s.result().State)
	assert.Equal(t, s.undisturbed(), stage.Canonical(t, s.record()))
}

// A call that no worker can make for days does not let the history grow without end: each run leaves it to the next one.
func TestACallThatNoWorkerCanMakeForDays(t *testing.T) {
	s := newScene(t, nil)
	offers := 0
	s.around("debate.call", func(func() (any, error), any) (any, error) {
		if offers++; offers == 12 {
			s.suggestContinuing()
		}
		if offers == 30 { // else the test would not end
			s.env.SignalWorkflow(temporal.ControlName, temporal.Control{Action: temporal.ActionCancel})
		}
		return nil, sdk.NewNonRetryableApplicationError("no provider", "unmade", nil)
	})
	s.run(nil)
	more, continued := s.rest()
	require.True(t, continued, s.env.GetWorkflowError())
	assert.Less(t, offers, 15)
	s.renew()
	s.run(more)
	assert.Equal(t, flow.StateCompleted, s.result().State)
	assert.Zero(t, s.losses())
	assert.Equal(t, s.undisturbed(), stage.Canonical(t, s.record()))
}

// No text of a debate goes through Temporal.
func TestHistoriesHoldNoText(t *testing.T) {
	s := newScene(t, nil)
	var mu sync.Mutex
	var passed []string
	note := func(values ...any) {
		mu.Lock()
		defer mu.Unlock()
		for _, value := range values {
			payload, err := converter.GetDefaultDataConverter().ToPayload(value)
			assert.NoError(t, err)
			passed = append(passed, string(payload.GetData()))
		}
	}
	s.around("", func(run func() (any, error), in any) (any, error) {
		out, err := run()
		note(in, out)
		return out, err
	})
	s.run(nil)
	note(s.result())
	require.Greater(t, len(passed), 10)
	for _, turn := range s.record().Turns {
		for _, text := range passed {
			assert.NotContains(t, text, turn.Text)
			assert.Less(t, len(text), 400)
		}
	}
	assert.NotContains(t, strings.Join(passed, "\n"), s.config.Topic)
}
