package temporal_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/runtime/temporal"
)

var release = flag.String("release", "", "store histories under the name of this release in testdata of runtime/temporal, whose workflow "+
	"is replayed over all that are there")

// TestRecord makes histories of workflows that pause, lose a worker, meet one without a key, are canceled, continue as new, fail because
// nobody retries their debate, and are reset. With -release it stores them. Older ones stay: they are those of running workflows when a
// release comes.
func TestRecord(t *testing.T) {
	t.Parallel()
	c := newCluster(t, order{Latency: 100 * time.Millisecond, Long: 100})
	w := c.worker(t)
	folder := t.TempDir()
	if *release != "" {
		folder = filepath.Join("..", "..", "..", "runtime", "temporal", "testdata", "histories", *release)
		require.NoError(t, os.MkdirAll(folder, 0o750))
	}
	c.client.FailAfter = time.Second
	c.client.Options = func(info debate.Info, o *client.StartWorkflowOptions) {
		if info.ID == "failed" {
			o.TaskQueue = "broken"
		}
	}
	whole := c.breakable(t, "broken")
	_, err := c.client.Start(t.Context(), short("failed"))
	require.NoError(t, err)
	c.abandoned(t, "failed")
	c.keep(t, folder, "failed", "failed")
	whole.Store(true)
	require.NoError(t, c.client.Control(t.Context(), "failed", flow.Retry{}))
	_, err = c.client.Wait(t.Context(), "failed")
	require.NoError(t, err)
	c.keep(t, folder, "retried", "failed")
	config := stage.TwoDebaters()
	for name, mode := range map[string]debate.Mode{"sequential": debate.Sequential, "simultaneous": debate.Simultaneous} {
		config.ID, config.Mode = name, mode
		_, err := c.client.Start(t.Context(), config)
		require.NoError(t, err)
	}
	config.ID = "reset"
	_, err = c.client.Start(t.Context(), config)
	require.NoError(t, err)
	until(t, "it begins", func() bool { return c.entered(t, "reset", debate.StateAwaitingResponses) > 0 })
	c.reset(t, "reset")
	config.ID, config.Rounds = "steered", 300
	_, err = c.client.Start(t.Context(), config)
	require.NoError(t, err)
	until(t, "it begins", func() bool { return c.entered(t, "steered", debate.StateAwaitingResponses) > 1 })
	w.Kill()
	w = c.worker(t)
	require.NoError(t, c.client.Temporal.SignalWorkflow(t.Context(), "steered", "", temporal.ControlName, temporal.Control{Action: temporal.ActionPause}))
	until(t, "it is paused", func() bool { return c.state(t, "steered") == flow.StatePaused })
	require.NoError(t, c.client.Control(t.Context(), "steered", flow.Resume{}))
	until(t, "it continues", func() bool { return c.state(t, "steered") != flow.StatePaused })
	wait(t, time.Second)
	require.NoError(t, c.client.Temporal.CancelWorkflow(t.Context(), "steered", ""))
	_, _ = c.client.Wait(t.Context(), "steered")
	w.Kill()
	c.worker(t, func(o *order) { o.Poor = true }) // it has the workflow to itself, and so gets each call first
	config.ID, config.Rounds = "refused", 2
	_, err = c.client.Start(t.Context(), config)
	require.NoError(t, err)
	until(t, "the worker says what it lacks", func() bool { return strings.Contains(c.pending(t, "refused"), "no provider") })
	c.worker(t)
	for _, id := range []string{"sequential", "simultaneous", "reset", "steered", "refused"} {
		_, _ = c.client.Wait(t.Context(), id)
		c.keep(t, folder, id, id)
	}
	assert.Positive(t, c.refusals(t, "refused"), "the worker without a key got no call")
}

// keep writes the histories of a workflow, that of the last run first.
func (c *cluster) keep(t testing.TB, folder, name, id string) {
	t.Helper()
	run := ""
	for n := 'a'; n == 'a' || run != ""; n++ {
		events := c.history(t, id, run)
		run = before(events)
		text, err := protojson.Marshal(&history.History{Events: events})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, name+"-"+string(n)+".json"), text, 0o600))
	}
}
