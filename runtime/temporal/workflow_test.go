package temporal_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/runtime/temporal"
	"github.com/agonist-dev/debate/store"
)

// A workflow ends with the record that a session makes of the same debate.
func TestADebateFromStartToEnd(t *testing.T) {
	for name, change := range map[string]func(*debate.Config){
		"sequential":   nil,
		"simultaneous": func(c *debate.Config) { c.Mode = debate.Simultaneous },
		"free form":    func(c *debate.Config) { c.Format = format.FreeForm },
		"no judge":     func(c *debate.Config) { c.Judging = nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, change)
			s.run(nil)
			status := s.result()
			assert.Equal(t, flow.StateCompleted, status.State)
			assert.True(t, status.Over)
			record := s.record()
			assert.Equal(t, record.Seq, status.Seq)
			assert.Equal(t, s.undisturbed(), stage.Canonical(t, record))
			require.Zero(t, record.InFlight())
		})
	}
}

// A worker may have a version. It needs no default for how workflows change theirs.
func TestAWorkerWithAVersion(t *testing.T) {
	connection, err := client.NewLazyClient(client.Options{Logger: quiet{}})
	require.NoError(t, err)
	defer connection.Close()
	w := worker.New(connection, "debates", worker.Options{DeploymentOptions: worker.DeploymentOptions{
		UseVersioning: true, Version: worker.WorkerDeploymentVersion{DeploymentName: "debates", BuildID: "2"},
	}})
	require.NotPanics(t, func() { err = temporal.Register(w, &debate.Engine{Store: &store.Memory{}}) })
	require.NoError(t, err)
}
