package temporal_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/mocks"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/runtime/temporal"
	"github.com/agonist-dev/debate/store"
)

// A debate is started in the task queue of its tenant. One that has none is started in that of the client.
func TestARoute(t *testing.T) {
	for tenant, want := range map[string]string{"blue": "debates-blue", "": "debates"} {
		config := stage.TwoDebaters()
		config.ID, config.Labels = "d", map[string]string{"tenant": tenant}
		engine, _ := stage.Engine(config)
		engine.Store = &store.Memory{}
		var got []string
		connection := &mocks.Client{}
		connection.On("ExecuteWorkflow", mock.Anything, mock.Anything, mock.Anything, mock.Anything).Run(func(args mock.Arguments) {
			options, _ := args.Get(1).(client.StartWorkflowOptions)
			got = append(got, options.TaskQueue)
		}).Return(&mocks.WorkflowRun{}, nil)
		c := &temporal.Client{Engine: engine, Temporal: connection, TaskQueue: "debates", Route: func(info debate.Info) string {
			assert.Equal(t, "d", info.ID)
			assert.Equal(t, "debate", info.Flow)
			if info.Labels["tenant"] == "" {
				return ""
			}
			return "debates-" + info.Labels["tenant"]
		}}
		_, err := c.Start(t.Context(), config)
		require.NoError(t, err)
		assert.Equal(t, []string{want}, got)
	}
}
