package temporal_test

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage/flows"
)

var (
	kills   = flag.Int("kills", longform.Or(300, 3), "how many workers TestKill kills")
	debates = flag.Int("debates", longform.Or(50, 8), "how many conversations TestKill plays at a time")
)

// TestKill kills workers with kill -9, and the server too, while conversations of all flows run. Nothing that is recorded is asked
// again or lost, none advances twice, and all end.
func TestKill(t *testing.T) {
	t.Parallel()
	c := newCluster(t, order{Latency: longform.Or(300*time.Millisecond, 100*time.Millisecond)})
	s := &flows.Siege{
		Engine: c.client.Engine, Ledger: c.order.ledger(), Dice: rand.New(rand.NewPCG(1, 2)), Kills: *kills, Workers: 4, Most: *debates,
		Moment: 600 * time.Millisecond, Lease: lease, Restart: func() { c.killServer(t) },
		Begin: func(config flow.Config) error {
			_, err := c.client.Start(t.Context(), config)
			return err
		},
		Work: func(name string, _ flows.Oddity) (kill func()) {
			return c.worker(t, func(o *order) { o.Name = name }).Kill
		},
	}
	s.Run(t)
	for _, id := range s.Begun {
		status, err := c.client.Wait(t.Context(), id)
		require.NoError(t, err, id)
		assert.Equal(t, flow.StateCompleted, status.State, id)
	}
}
