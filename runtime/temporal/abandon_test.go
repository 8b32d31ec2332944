package temporal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdk "go.temporal.io/sdk/temporal"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/runtime/temporal"
)

// failing is a scene in which Ben cannot speak in round two until the outage is over, and the argument of its workflow, which fails
// once the debate has been in the error state for an hour.
func failing(t *testing.T) (s *scene, outage *stage.Outage, bounded map[string]any) {
	t.Helper()
	s = newScene(t, nil)
	outage = stage.Befall(s.script, provider.KindAuthentication, stage.Said("Ben", 2))
	return s, outage, map[string]any{"id": s.config.ID, "failAfter": time.Hour}
}

// abandoned requires that the workflow has failed because nobody has retried the debate.
func (s *scene) abandoned() {
	s.t.Helper()
	var failed *sdk.ApplicationError
	require.ErrorAs(s.t, s.env.GetWorkflowError(), &failed)
	assert.Equal(s.t, temporal.FailedType, failed.Type())
	assert.True(s.t, failed.NonRetryable())
	assert.ErrorContains(s.t, failed, "1h0m0s")
	var status temporal.Status
	require.NoError(s.t, failed.Details(&status))
	assert.Equal(s.t, flow.StateError, status.State)
	assert.Equal(s.t, s.record().Seq, status.Seq)
	assert.False(s.t, status.Over)
}

// The workflow of a debate that nobody retries fails. Another one continues the debate after a retry.
func TestADebateThatNobodyRetries(t *testing.T) {
	s, outage, bounded := failing(t)
	began := s.env.Now()
	s.run(bounded)
	s.abandoned()
	took := s.env.Now().Sub(began)
	assert.GreaterOrEqual(t, took, time.Hour)
	assert.Less(t, took, 2*time.Hour)

	outage.Over.Store(true)
	require.NoError(t, s.engine.Control(t.Context(), s.config.ID, flow.Retry{}))
	s.renew()
	s.run(bounded)
	assert.Equal(t, flow.StateCompleted, s.result().State)
	assert.Equal(t, 1, s.entered(flow.StateError))
}

// A workflow without a bound, such as one of an older release, waits for a retry for as long as it takes.
func TestADebateThatIsRetriedLate(t *testing.T) {
	s, outage, _ := failing(t)
	s.env.RegisterDelayedCallback(func() {
		outage.Over.Store(true)
		s.env.SignalWorkflow(temporal.ControlName, temporal.Control{Action: temporal.ActionRetry})
	}, 30*24*time.Hour)
	s.run(nil)
	assert.Equal(t, flow.StateCompleted, s.result().State)
}

// A retry ends the bound. If the debate fails again, it has the whole time once more.
func TestARetryEndsTheBound(t *testing.T) {
	s, _, bounded := failing(t)
	began := s.env.Now()
	s.env.RegisterDelayedCallback(func() {
		s.env.SignalWorkflow(temporal.ControlName, temporal.Control{Action: temporal.ActionRetry})
	}, 30*time.Minute)
	s.run(bounded)
	s.abandoned()
	assert.Equal(t, 2, s.entered(flow.StateError))
	assert.GreaterOrEqual(t, s.env.Now().Sub(began), 90*time.Minute)
}

// A workflow that is about to fail waits for a look that was announced: it may follow a control that is in the log.
func TestALookBeforeTheEnd(t *testing.T) {
	s, outage, bounded := failing(t)
	s.env.RegisterDelayedCallback(func() {
		outage.Over.Store(true)
		s.env.SignalWorkflow(temporal.LookName, temporal.Look{After: 30 * time.Minute})
		require.NoError(t, s.engine.Control(t.Context(), s.config.ID, flow.Retry{}))
	}, 50*time.Minute)
	s.run(bounded)
	assert.Equal(t, flow.StateCompleted, s.result().State)
}

// A run that continues as new leaves the rest of the bound to the next one.
func TestTheBoundOfTheNextRun(t *testing.T) {
	s, _, bounded := failing(t)
	s.env.RegisterDelayedCallback(func() {
		s.env.SetContinueAsNewSuggested(true)
		s.env.SignalWorkflow(temporal.LookName, temporal.Look{})
	}, 20*time.Minute)
	s.run(bounded)
	more, continued := s.rest()
	require.True(t, continued, s.env.GetWorkflowError())
	s.renew()
	began := s.env.Now()
	s.run(more)
	s.abandoned()
	took := s.env.Now().Sub(began)
	assert.Greater(t, took, 35*time.Minute)
	assert.Less(t, took, 45*time.Minute)
}
