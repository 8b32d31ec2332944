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
	"github.com/agonist-dev/debate/internal/stage/process"
)

var (
	kills   = flag.Int("kills", longform.Or(300, 3), "how many workers TestKill kills")
	debates = flag.Int("debates", longform.Or(50, 8), "how many conversations TestKill plays at a time")
)

// TestKill kills workers with kill -9, and the server too, while conversations of all flows run. The clocks of most workers are an hour
// off, and some workers have no providers. Nothing that is recorded is asked again or lost, none advances twice, and all end.
func TestKill(t *testing.T) {
	t.Parallel()
	process.NeedsClock(t)
	held := longform.Or(usual, lease)
	c := newCluster(t, order{Latency: longform.Or(300*time.Millisecond, 100*time.Millisecond), Lease: held})
	s := &flows.Siege{
		Engine: c.client.Engine, Ledger: c.order.ledger(), Dice: rand.New(rand.NewPCG(1, 2)), Kills: *kills, Workers: 4, Most: *debates,
		Moment: longform.Or(16*time.Second, 600*time.Millisecond), Lease: held, Odd: flows.Odd, Restart: func() { c.killServer(t) },
		Begin: func(config flow.Config) error {
			_, err := c.client.Start(t.Context(), config)
			return err
		},
		Work: func(name string, odd flows.Oddity) (kill func()) {
			return c.worker(t, func(o *order) { o.Name, o.Off, o.Poor = name, odd.Off, odd.Poor }).Kill
		},
	}
	s.Run(t)
	for _, id := range s.Begun {
		status, err := c.client.Wait(t.Context(), id)
		require.NoError(t, err, id)
		assert.Equal(t, flow.StateCompleted, status.State, id)
	}
}
