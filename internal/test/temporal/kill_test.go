package temporal_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
)

var (
	kills   = flag.Int("kills", 20, "how many workers TestKill kills")
	debates = flag.Int("debates", 50, "how many debates TestKill plays, at least")
)

// TestKill kills workers with kill -9, and the server too, while debates run. Nothing that is recorded is asked again or lost, no
// debate advances twice, and all end.
func TestKill(t *testing.T) {
	c := newCluster(t, order{Latency: 300 * time.Millisecond})
	workers := make([]*process, 4)
	for i := range workers {
		workers[i] = c.worker(t)
	}
	modes := []debate.Mode{debate.Sequential, debate.Simultaneous}
	var ids []string
	var over sync.WaitGroup
	var ended atomic.Int64
	begin := func() {
		config := stage.TwoDebaters()
		config.ID = fmt.Sprintf("kill-%d", len(ids))
		config.Mode = modes[len(ids)%2]
		id, err := c.client.Start(t.Context(), config)
		require.NoError(t, err)
		ids = append(ids, id)
		over.Go(func() {
			status, err := c.client.Wait(t.Context(), id)
			if assert.NoError(t, err, id) && assert.Equal(t, flow.StateCompleted, status.State, id) {
				ended.Add(1)
			}
		})
	}
	for range *debates {
		begin()
	}
	var killed []time.Time
	dice := rand.New(rand.NewPCG(1, 2))
	servers := 0
	for len(killed) < *kills {
		wait(t, time.Duration(100+dice.IntN(500))*time.Millisecond)
		if int(ended.Load()) > len(ids)-10 { // there is always something to break
			begin()
		}
		w := dice.IntN(len(workers))
		workers[w].kill()
		killed = append(killed, time.Now())
		if len(killed)%10 == 5 {
			c.server.kill()
			c.server = c.server.again(t)
			servers++
		}
		workers[w] = workers[w].again(t)
	}
	over.Wait()

	sum := tally{asked: c.asked(t)}
	for i, id := range ids {
		sum.audit(t, c, id, killed)
		record, err := c.client.Engine.Record(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, c.undisturbed(t, modes[i%2]), canonical(t, record), id)
	}
	figuref("kill -9: %d workers and %d servers killed under %d debates; ended %d, asked again after a result %d, results lost %d, "+
		"double advances %d; calls in flight lost and made again %d; time to continue p50 %s, p99 %s",
		len(killed), servers, len(ids), ended.Load(), sum.repeats, sum.missing, sum.doubles, sum.losses, sum.percentile(50), sum.percentile(99))
	assert.EqualValues(t, len(ids), ended.Load())
	assert.Zero(t, sum.repeats)
	assert.Zero(t, sum.missing)
	assert.Zero(t, sum.doubles)
	assert.Positive(t, sum.losses, "no kill has met a call: the test finds nothing")
	assert.LessOrEqual(t, sum.percentile(99), lease+30*time.Second)
}
