package temporal_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/temporal"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/internal/test/temporal/server"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/runtime/temporal"
)

// until waits until something holds, however busy the machine is.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	flows.Until(t, what, holds)
}

func (c *cluster) state(t testing.TB, id string) flow.State {
	t.Helper()
	record := stage.StoredRecord(t, c.client.Engine, id)
	return record.State
}

// Updates, signals, queries, a cancellation and search attributes, on the real server. Runs continue as new meanwhile.
func TestControls(t *testing.T) {
	t.Parallel()
	c := newCluster(t, order{Latency: 20 * time.Millisecond, Long: 60})
	c.worker(t)
	config := stage.TwoDebaters()
	config.ID, config.Rounds, config.Labels = "steered", 300, map[string]string{"tenant": "blue"}
	id, err := c.client.Start(t.Context(), config)
	require.NoError(t, err)
	again, err := c.client.Start(t.Context(), config)
	require.NoError(t, err, "a second start is no other debate")
	assert.Equal(t, id, again)

	given := 0
	for range longform.Or(8, 3) { // each is heard, whichever run it meets
		status, err := c.update(t, id, temporal.Control{Action: temporal.ActionPause, Drain: true, Reason: fmt.Sprintf("pause %d", given)})
		require.NoError(t, err)
		assert.Equal(t, flow.StatePaused, status.State)
		require.NoError(t, c.client.Temporal.SignalWorkflow(t.Context(), id, "", temporal.ControlName, temporal.Control{Action: temporal.ActionResume}))
		given++
		until(t, "it continues", func() bool { return c.state(t, id) != flow.StatePaused })
		wait(t, 50*time.Millisecond)
	}
	require.NoError(t, c.client.Control(t.Context(), id, flow.Pause{Reason: "by the client"}))
	until(t, "the workflow knows", func() bool {
		status, err := c.client.Status(t.Context(), id)
		return err == nil && status.Idle
	})
	_, err = c.update(t, id, temporal.Control{Action: temporal.ActionPause})
	var failed *sdk.ApplicationError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, "refused", failed.Type())
	_, err = c.update(t, id, temporal.Control{Action: "explode"})
	require.ErrorContains(t, err, "no action")
	c.finds(t, `DebateState = "paused" AND DebateFlow = "debate" AND DebateLabels = "tenant=blue" AND ExecutionStatus = "Running"`)
	require.NoError(t, c.client.Control(t.Context(), id, flow.Resume{}))
	until(t, "it continues", func() bool { return c.state(t, id) != flow.StatePaused })
	require.NoError(t, c.client.Temporal.CancelWorkflow(t.Context(), id, ""))
	status, err := c.client.Wait(t.Context(), id)
	require.True(t, sdk.IsCanceledError(err), "%v", err)
	assert.Equal(t, flow.StateCanceled, status.State)
	assert.Equal(t, given+1, c.entered(t, id, flow.StatePaused))
	assert.Greater(t, c.histories(t, id).runs, 1)
	record := stage.StoredRecord(t, c.client.Engine, id)
	assert.Zero(t, record.InFlight())
}

// update gives a control to a debate by an update, and returns the status after it.
func (c *cluster) update(t testing.TB, id string, control temporal.Control) (status temporal.Status, err error) {
	t.Helper()
	handle, err := c.client.Temporal.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
		WorkflowID: id, UpdateName: temporal.ControlName, Args: []any{control}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return status, err
	}
	err = handle.Get(t.Context(), &status)
	return status, err
}

// finds waits until one workflow can be searched for. A run that was continued as new keeps its attributes.
func (c *cluster) finds(t testing.TB, query string) {
	t.Helper()
	until(t, query, func() bool {
		found, err := c.client.Temporal.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: server.Namespace, Query: query,
		})
		return err == nil && len(found.GetExecutions()) == 1
	})
}

// entered counts how often a debate came to a state.
func (c *cluster) entered(t testing.TB, id string, state flow.State) (n int) {
	t.Helper()
	for event, err := range c.client.Engine.Store.Read(t.Context(), id, 0) {
		require.NoError(t, err)
		if change, ok := event.Body.(*flow.Transition); ok && change.To == state {
			n++
		}
	}
	return n
}

// A worker that is stopped softly gives up the call that takes too long, and another worker makes it at once.
func TestASoftStop(t *testing.T) {
	t.Parallel()
	c := newCluster(t, order{Latency: 10 * time.Millisecond, Lease: 10 * time.Second}) // it outlasts the stop, and is over with its process
	stopped := c.worker(t, func(o *order) { o.Latency = time.Hour })
	config := stage.TwoDebaters()
	config.ID, config.Rounds = "soft", 1
	_, err := c.client.Start(t.Context(), config)
	require.NoError(t, err)
	until(t, "the call is made", func() bool {
		return len(c.tally(t).asked) > 0
	})
	stopped.Stop(t)
	record := stage.StoredRecord(t, c.client.Engine, config.ID)
	assert.Equal(t, 1, record.InFlight())
	c.worker(t)
	_, err = c.client.Wait(t.Context(), config.ID)
	require.NoError(t, err)
	sum := c.tally(t)
	sum.add(t, config.ID, config)
	assert.Equal(t, 1, sum.Broken)
	assert.Zero(t, sum.Faults())
}

// A worker without the provider, a session that has the debate, a workflow that was terminated, and a debate that does not exist:
// the errors say so, and nothing is lost.
func TestTrouble(t *testing.T) {
	t.Parallel()
	c := newCluster(t, order{Latency: 20 * time.Millisecond})
	c.worker(t, func(o *order) { o.Poor = true })
	config := stage.TwoDebaters()
	config.ID, config.Rounds = "troubled", 1
	held, err := c.order.engineBefore(t.Context(), func(ctx context.Context, _ *provider.Request) error {
		<-ctx.Done()
		return ctx.Err()
	})
	require.NoError(t, err)
	session, err := held.Start(t.Context(), config) // it has the lease, and a call in flight
	require.NoError(t, err)
	require.NoError(t, c.client.Resume(t.Context(), config.ID))
	require.NoError(t, session.Close())
	until(t, "the activity says what its worker lacks", func() bool {
		return strings.Contains(c.pending(t, config.ID), `no provider "test"`)
	})
	require.NoError(t, c.client.Temporal.TerminateWorkflow(t.Context(), config.ID, "", "somebody's mistake"))
	c.worker(t)
	require.NoError(t, c.client.Resume(t.Context(), config.ID))
	status, err := c.client.Wait(t.Context(), config.ID)
	require.NoError(t, err)
	assert.Equal(t, flow.StateCompleted, status.State)
	sum := c.tally(t)
	sum.add(t, config.ID, config)
	assert.Zero(t, sum.Faults())

	require.ErrorIs(t, c.client.Resume(t.Context(), "nobody"), debate.ErrNotFound)
	require.NoError(t, c.client.Resume(t.Context(), config.ID), "what is over needs no workflow")
	run, err := c.client.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "nobody", TaskQueue: queue},
		temporal.WorkflowName, map[string]string{"id": "nobody"})
	require.NoError(t, err)
	require.ErrorContains(t, run.Get(t.Context(), nil), "no such conversation")

	changed := config
	changed.Rounds++
	_, err = c.client.Start(t.Context(), changed)
	require.Error(t, err, "another config under the same id")
}

// pending is why the first pending activity of a workflow has failed last.
func (c *cluster) pending(t testing.TB, id string) string {
	t.Helper()
	all, err := c.client.Temporal.DescribeWorkflowExecution(t.Context(), id, "")
	require.NoError(t, err)
	for _, activity := range all.GetPendingActivities() {
		return activity.GetLastFailure().GetMessage()
	}
	return ""
}
