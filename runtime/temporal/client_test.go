package temporal_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/mocks"
	sdk "go.temporal.io/sdk/temporal"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/runtime/temporal"
	"github.com/agonist-dev/debate/store"
)

// started starts a debate of a tenant by a client, and returns how its workflow was started, and with what.
func started(t *testing.T, tenant string, c *temporal.Client) (options client.StartWorkflowOptions, input map[string]any) {
	t.Helper()
	config := stage.TwoDebaters()
	config.ID, config.Labels = "d", map[string]string{"tenant": tenant}
	c.Engine, _ = stage.Engine(config)
	c.Engine.Store = &store.Memory{}
	connection := &mocks.Client{}
	connection.On("ExecuteWorkflow", mock.Anything, mock.Anything, mock.Anything, mock.Anything).Run(func(args mock.Arguments) {
		options, _ = args.Get(1).(client.StartWorkflowOptions)
		data, err := json.Marshal(args.Get(3))
		assert.NoError(t, err)
		assert.NoError(t, json.Unmarshal(data, &input))
	}).Return(&mocks.WorkflowRun{}, nil).Once()
	c.Temporal, c.TaskQueue = connection, "debates"
	_, err := c.Start(t.Context(), config)
	require.NoError(t, err)
	connection.AssertExpectations(t)
	return options, input
}

// The host chooses how a workflow is started, by what it knows of the debate. The id, and what holds for ids, are not its to choose.
func TestOptions(t *testing.T) {
	options, _ := started(t, "blue", &temporal.Client{Attributes: true, Options: func(info debate.Info, o *client.StartWorkflowOptions) {
		assert.Equal(t, "debates", o.TaskQueue)
		assert.Equal(t, "d", info.ID)
		assert.Equal(t, "debate", info.Flow)
		assert.Equal(t, stage.TwoDebaters().Topic, info.Topic)
		o.TaskQueue += "-" + info.Labels["tenant"]
		o.Priority.FairnessKey = info.Labels["tenant"]
		o.StaticSummary = "a debate"
		o.Memo = map[string]any{"cost centre": 7}
		o.TypedSearchAttributes = sdk.NewSearchAttributes(
			o.TypedSearchAttributes.Copy(), sdk.NewSearchAttributeKeyKeyword("Tenant").ValueSet(info.Labels["tenant"]),
		)
		o.ID = "another"
		o.WorkflowIDReusePolicy = enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
		o.WorkflowIDConflictPolicy = enums.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING
		o.WorkflowExecutionErrorWhenAlreadyStarted = true
	}})
	assert.Equal(t, 3, options.TypedSearchAttributes.Size(), "those of the client too")
	options.TypedSearchAttributes = sdk.SearchAttributes{}
	assert.Equal(t, client.StartWorkflowOptions{
		ID: "d", TaskQueue: "debates-blue", Priority: sdk.Priority{FairnessKey: "blue"}, StaticSummary: "a debate",
		Memo:                     map[string]any{"cost centre": 7},
		WorkflowIDReusePolicy:    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, options)
	options, _ = started(t, "", &temporal.Client{})
	assert.Equal(t, "debates", options.TaskQueue)
}

// A workflow knows how long its debate may be in the error state.
func TestFailAfter(t *testing.T) {
	for after, want := range map[time.Duration]any{0: float64(time.Hour), time.Minute: float64(time.Minute), -1: nil} {
		_, input := started(t, "", &temporal.Client{FailAfter: after})
		assert.Equal(t, want, input["failAfter"], after)
	}
}
