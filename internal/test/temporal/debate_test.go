package temporal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
)

// A debate is played on the real server, which shows beside each activity what it is for.
func TestADebate(t *testing.T) {
	t.Parallel()
	c := newCluster(t, order{Latency: 10 * time.Millisecond})
	c.worker(t)
	config := stage.TwoDebaters()
	config.ID = "one"
	id, err := c.client.Start(t.Context(), config)
	require.NoError(t, err)
	status, err := c.client.Wait(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, flow.StateCompleted, status.State)

	var summaries []string
	for i, event := range c.history(t, id, "") {
		if i == 0 {
			data, err := proto.Marshal(event)
			require.NoError(t, err)
			assert.Contains(t, string(data), `"id"`, "TestACodec looks for it")
		}
		if event.GetActivityTaskScheduledEventAttributes() != nil {
			var summary string
			require.NoError(t, converter.GetDefaultDataConverter().FromPayload(event.GetUserMetadata().GetSummary(), &summary))
			summaries = append(summaries, summary)
		}
	}
	require.NotEmpty(t, summaries)
	assert.Equal(t, "open", summaries[0])
	assert.Contains(t, summaries, "r1.opening.Ada")
}
