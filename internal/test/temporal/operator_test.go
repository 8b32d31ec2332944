package temporal_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	sdk "go.temporal.io/sdk/temporal"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/test/temporal/server"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/runtime/temporal"
)

// breakable hires a worker for a task queue. Its provider answers once whole is set, and has a key that is refused until then.
func (c *cluster) breakable(t testing.TB, tasks string) (whole *atomic.Bool) {
	t.Helper()
	whole = new(atomic.Bool)
	engine, err := c.order.engineBefore(t.Context(), func(context.Context, *provider.Request) error {
		if whole.Load() {
			return nil
		}
		return &provider.Error{Kind: provider.KindAuthentication}
	})
	require.NoError(t, err)
	c.hire(t, engine, new(atomic.Int64), map[string]int{tasks: 10})
	return whole
}

// abandoned waits until the workflow of a debate has failed, because nobody has retried the debate.
func (c *cluster) abandoned(t testing.TB, id string) {
	t.Helper()
	status, err := c.client.Wait(t.Context(), id)
	var failed *sdk.ApplicationError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, temporal.FailedType, failed.Type())
	assert.Equal(t, id, status.ID)
	assert.Equal(t, flow.StateError, status.State)
}

// A debate that nobody retries ends its workflow as failed, and is found there. A retry continues it in another workflow.
func TestADebateThatFails(t *testing.T) {
	t.Parallel()
	c := newCluster(t, order{})
	c.client.FailAfter = time.Second
	whole := c.breakable(t, queue)
	_, err := c.client.Start(t.Context(), short("failed"))
	require.NoError(t, err)
	c.abandoned(t, "failed")
	c.finds(t, `ExecutionStatus = "Failed" AND DebateState = "error"`)
	whole.Store(true)
	require.NoError(t, c.client.Control(t.Context(), "failed", flow.Retry{}))
	status, err := c.client.Wait(t.Context(), "failed")
	require.NoError(t, err)
	assert.Equal(t, flow.StateCompleted, status.State)
}

// reset resets the last run of a workflow to its first task, without what the run was told since.
func (c *cluster) reset(t testing.TB, id string) {
	t.Helper()
	for _, event := range c.history(t, id, "") {
		if event.GetEventType() != enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			continue
		}
		_, err := c.client.Temporal.ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
			Namespace: server.Namespace, WorkflowExecution: &common.WorkflowExecution{WorkflowId: id}, Reason: "an operator wants it",
			WorkflowTaskFinishEventId: event.GetEventId(), RequestId: id,
			ResetReapplyExcludeTypes: []enums.ResetReapplyExcludeType{
				enums.RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL, enums.RESET_REAPPLY_EXCLUDE_TYPE_UPDATE,
			},
		})
		require.NoError(t, err)
		return
	}
	require.Fail(t, "the run has completed no task")
}

// A debate whose workflow is reset continues where its log ends, whether the run is the first one or continues another. Nothing that is
// recorded is asked again, and no attempt is made twice.
func TestAReset(t *testing.T) {
	t.Parallel()
	c := newCluster(t, order{Latency: 100 * time.Millisecond, Long: 60})
	c.worker(t)
	config := stage.TwoDebaters()
	config.Rounds = 12
	for id, round := range map[string]int{"early": 1, "late": 7} {
		config.ID = id
		_, err := c.client.Start(t.Context(), config)
		require.NoError(t, err)
		until(t, "it has come so far", func() bool { return c.entered(t, id, debate.StateAwaitingResponses) >= round })
		if round > 1 {
			require.Greater(t, c.histories(t, id).runs, 1)
		}
		c.reset(t, id)
		status, err := c.client.Wait(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, flow.StateCompleted, status.State)
		sum := c.tally(t)
		sum.add(t, id, config)
		assert.Zero(t, sum.Faults(), "%s: %s", id, &sum.Audit)
	}
}
