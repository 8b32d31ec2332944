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
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/flows"
)

var (
	kills   = flag.Int("kills", longform.Or(300, 3), "how many workers TestKill kills")
	debates = flag.Int("debates", longform.Or(50, 8), "how many conversations TestKill plays at a time")
)

// besieged returns the config of a conversation, whose flow follows from its number.
func besieged(n int) flow.Config {
	id := fmt.Sprintf("kill-%d", n)
	switch n % 4 {
	case 0:
		return flows.Deliberation(id)
	case 1:
		return flows.Arbitration(id)
	default:
		config := stage.TwoDebaters()
		config.ID, config.Mode = id, debate.Sequential
		if n%4 == 2 {
			config.Mode = debate.Simultaneous
		}
		return config
	}
}

// siege is a run in which workers are killed.
type siege struct {
	*cluster

	workers []*process
	begun   int
	over    sync.WaitGroup
	ended   atomic.Int64
	deaths  []flows.Death
	met     bool // a kill has met a call
	servers int
}

// TestKill kills workers with kill -9, and the server too, while conversations of all flows run. Nothing that is recorded is asked
// again or lost, none advances twice, and all end.
func TestKill(t *testing.T) {
	t.Parallel()
	s := &siege{cluster: newCluster(t, order{Latency: longform.Or(300*time.Millisecond, 100*time.Millisecond)})}
	for range 4 {
		s.workers = append(s.workers, s.worker(t))
	}
	dice := rand.New(rand.NewPCG(1, 2))
	for len(s.deaths) < *kills || !s.met {
		s.fill(t)
		wait(t, time.Duration(100+dice.IntN(500))*time.Millisecond)
		w := dice.IntN(len(s.workers))
		s.workers[w].kill()
		s.deaths = append(s.deaths, flows.Death{At: time.Now(), By: s.workers[w].order.Name})
		s.met = s.met || s.meets(t, s.workers[w].order.Name)
		if len(s.deaths)%10 == 2 {
			s.killServer(t)
			s.servers++
		}
		s.workers[w] = s.worker(t)
	}
	s.over.Wait()
	s.audit(t)
}

// meets reports whether a worker that was killed has left a call in flight.
func (s *siege) meets(t *testing.T, name string) bool {
	t.Helper()
	for id, calls := range s.tally(t).asked {
		var log []flow.Event
		for event, err := range s.client.Engine.Store.Read(t.Context(), id, 0) {
			require.NoError(t, err)
			log = append(log, event)
		}
		if flows.Unsettled(log, calls, name) {
			return true
		}
	}
	return false
}

// fill begins conversations until there are as many as are played at a time. So there is always something to break.
func (s *siege) fill(t *testing.T) {
	t.Helper()
	for s.begun < int(s.ended.Load())+*debates {
		config := besieged(s.begun)
		s.begun++
		var id string
		until(t, "the conversation has begun", func() (begun bool) { // the server may be down
			var err error
			id, err = s.client.Start(t.Context(), config)
			return err == nil
		})
		s.over.Go(func() {
			defer s.ended.Add(1)
			status, err := s.client.Wait(t.Context(), id)
			if assert.NoError(t, err, id) {
				assert.Equal(t, flow.StateCompleted, status.State, id)
			}
		})
	}
}

func (s *siege) audit(t *testing.T) {
	t.Helper()
	sum := s.tally(t)
	var want [4]*outcome
	for n := range s.begun {
		if want[n%4] == nil {
			want[n%4] = undisturbed(t, besieged(n))
		}
		sum.add(t, fmt.Sprintf("kill-%d", n), want[n%4])
	}
	waits := flows.Waits(sum.asked, s.deaths)
	figuref("kill -9: %d workers and %d servers killed under %d conversations of three flows: ended %d; %s", len(s.deaths), s.servers,
		s.begun, s.ended.Load(), &sum.Audit)
	figuref("time to continue after a kill, %d times: p50 %s, p99 %s; the longest time between two calls of a conversation %s; lease %s",
		len(waits), flows.Quantile(waits, 0.5), flows.Quantile(waits, 0.99), flows.Standstill(sum.asked).Round(time.Millisecond), lease)
	assert.EqualValues(t, s.begun, s.ended.Load())
	assert.Zero(t, sum.Faults())
	assert.Positive(t, sum.Broken, "no kill has met a call: the test finds nothing")
	if longform.Asked() { // a few measure the machine
		assert.LessOrEqual(t, flows.Quantile(waits, 0.99), lease+30*time.Second)
	}
}
