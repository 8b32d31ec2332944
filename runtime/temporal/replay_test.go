package temporal_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/runtime/temporal"
	"github.com/agonist-dev/debate/store"
)

// The workflow of this release continues those that older releases have begun: it repeats every history of a real server that was
// ever stored. TestRecord in internal/test/temporal stores them.
func TestStoredHistoriesReplay(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "histories", "*", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	replayer := worker.NewWorkflowReplayer()
	require.NoError(t, temporal.Register(onlyWorkflows{replayer: replayer}, &debate.Engine{Store: &store.Memory{}}))
	for _, file := range files {
		assert.NoError(t, replayer.ReplayWorkflowHistoryFromJSONFile(quiet{}, file), file)
	}
}

// onlyWorkflows is a replayer, to which activities are nothing.
type onlyWorkflows struct {
	worker.Registry

	replayer worker.WorkflowReplayer
}

func (o onlyWorkflows) RegisterWorkflowWithOptions(w any, options workflow.RegisterOptions) {
	o.replayer.RegisterWorkflowWithOptions(w, options)
}

func (onlyWorkflows) RegisterActivityWithOptions(any, activity.RegisterOptions) {}
