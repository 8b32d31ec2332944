package temporal_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"
	"google.golang.org/grpc"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/runtime/temporal"
)

var (
	crowd   = flag.Int("crowd", longform.Or(2000, 6), "how many debates TestThroughput is measured with, and at most 100 of them the others")
	latency = flag.Duration("latency", longform.Or(time.Second, 50*time.Millisecond), "how long their calls take")
	places  = flag.Int("places", 10, "how many calls each of the four workers of TestThroughput makes at a time")
	span    = flag.Duration("span", 65*time.Second, "for how long idle workers are watched")
)

// usual is the lease of an engine that sets none.
const usual = 15 * time.Second

// short is the config of a debate of one round.
func short(id string) debate.Config {
	c := flows.Debate(id)
	c.Rounds = 1
	return c
}

// hire starts a worker of this process for each queue, which has so many activities at a time, on one engine. All their requests to the
// server are counted.
func (c *cluster) hire(t testing.TB, engine *debate.Engine, requests *atomic.Int64, queues map[string]int) {
	t.Helper()
	count := func(ctx context.Context, method string, in, out any, on *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
		requests.Add(1)
		return invoke(ctx, method, in, out, on, o...)
	}
	connection, err := c.order.dial(t.Context(), grpc.WithChainUnaryInterceptor(count))
	require.NoError(t, err)
	t.Cleanup(connection.Close)
	for name, activities := range queues {
		w := worker.New(connection, name, worker.Options{MaxConcurrentActivityExecutionSize: activities, WorkerStopTimeout: time.Second})
		require.NoError(t, temporal.Register(w, engine))
		require.NoError(t, w.Start())
		t.Cleanup(w.Stop)
	}
}

// ended waits until that many conversations are completed, and returns when the last was.
func ended(t testing.TB, engine *debate.Engine, all int) (last time.Time) {
	t.Helper()
	return flows.Reached(t, engine, flow.StateCompleted, all)
}

// processor returns the processor time that a process has used; 0: it cannot be known here.
func processor(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// Four workers get through as many debates as one process with as many calls in flight.
func TestThroughput(t *testing.T) {
	longform.Only(t, "several workers play conversations in TestKill and TestFairness, and no time is measured")
	const workers = 4
	alone := order{Folder: t.TempDir(), Latency: *latency, Lease: usual}
	engine, err := alone.engine(t.Context())
	require.NoError(t, err)
	single, spent := measured(t, engine, os.Getpid(), func(ids []string) { flows.PlayAll(t, engine, ids, workers*(*places)) }, func(string) {})
	figuref("%d debates, calls of %s, %d at a time: one process %s, %.0f %% of a core, %s of processor time a debate", *crowd, *latency,
		workers*(*places), single.Round(time.Millisecond), 100*spent.Seconds()/single.Seconds(), perDebate(spent))

	c := newCluster(t, order{Latency: *latency, Lease: usual})
	server := c.server.PID()
	var before time.Duration
	shared, spent := measured(t, c.client.Engine, os.Getpid(), func([]string) {
		before = processor(server)
		for range workers {
			engine, err := c.order.engine(t.Context())
			require.NoError(t, err)
			engine.MaxCalls = *places // with more activities than that, there is always one whose call can begin
			c.hire(t, engine, new(atomic.Int64), map[string]int{queue: 2 * *places})
		}
	}, func(id string) { require.NoError(t, c.client.Resume(t.Context(), id)) })
	ratio := float64(single) / float64(shared)
	figuref("four workers %s: throughput %.2f x; processor time a debate %s, and of the server %s", shared.Round(time.Millisecond), ratio,
		perDebate(spent), perDebate(processor(server)-before))
	if *crowd >= 500 {
		assert.GreaterOrEqual(t, ratio, 0.9)
	}
}

func perDebate(all time.Duration) time.Duration {
	return (all / time.Duration(*crowd)).Round(10 * time.Microsecond)
}

// measured submits the debates, and returns how long it takes from work on until they have ended, and the processor time of a process.
func measured(t *testing.T, engine *debate.Engine, pid int, work func(ids []string), begin func(id string)) (took, spent time.Duration) {
	t.Helper()
	ids := make([]string, *crowd)
	for i := range ids {
		var err error
		ids[i], err = engine.Submit(t.Context(), short(fmt.Sprint("d", i)))
		require.NoError(t, err)
		begin(ids[i])
	}
	began, before := time.Now(), processor(pid)
	work(ids)
	last := ended(t, engine, *crowd)
	return last.Sub(began), processor(pid) - before
}
