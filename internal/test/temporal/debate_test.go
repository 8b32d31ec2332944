package temporal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
)

// A debate is played on the real server.
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
}
