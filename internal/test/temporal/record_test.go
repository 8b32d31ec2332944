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
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/runtime/temporal"
)

var update = flag.Bool("update", false, "write histories to testdata of runtime/temporal, whose workflow is replayed over all that are there")

// TestRecord makes histories of workflows that pause, lose a worker, meet one without a key, are canceled and continue as new, and stores
// them with -update under the name of today. Older ones stay: they are those of running workflows when a release comes.
func TestRecord(t *testing.T) {
	t.Parallel()
	c := newCluster(t, order{Latency: 100 * time.Millisecond, Long: 100})
	w := c.worker(t)
	folder := t.TempDir()
	if *update {
		folder = filepath.Join("..", "..", "..", "runtime", "temporal", "testdata", "histories", time.Now().UTC().Format(time.DateOnly))
		require.NoError(t, os.MkdirAll(folder, 0o750))
	}
	config := stage.TwoDebaters()
	for name, mode := range map[string]debate.Mode{"sequential": debate.Sequential, "simultaneous": debate.Simultaneous} {
		config.ID, config.Mode = name, mode
		_, err := c.client.Start(t.Context(), config)
		require.NoError(t, err)
	}
	config.ID, config.Rounds = "steered", 300
	_, err := c.client.Start(t.Context(), config)
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
	refused := 0
	for _, id := range []string{"sequential", "simultaneous", "steered", "refused"} {
		_, _ = c.client.Wait(t.Context(), id)
		run := ""
		for n := 0; n == 0 || run != ""; n++ {
			var events history.History
			all := c.client.Temporal.GetWorkflowHistory(t.Context(), id, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
			run = ""
			for all.HasNext() {
				event, err := all.Next()
				require.NoError(t, err)
				events.Events = append(events.Events, event)
				if event.GetActivityTaskFailedEventAttributes() != nil {
					refused++
				}
				if started := event.GetWorkflowExecutionStartedEventAttributes(); started != nil {
					run = started.GetContinuedExecutionRunId()
				}
			}
			text, err := protojson.Marshal(&events)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(folder, id+"-"+string(rune('a'+n))+".json"), text, 0o600))
		}
	}
	assert.Positive(t, refused, "the worker without a key got no call")
}
