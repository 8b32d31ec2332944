package temporal_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/runtime/temporal"
)

// Debates that wait for a person cost hardly a request, and an answer is acted on soon, whether the client or an update brings it.
func TestDebatesThatWait(t *testing.T) {
	t.Parallel()
	crowd, workers := min(*crowd, 100), longform.Or(4, 2)
	c := newCluster(t, order{Lease: usual})
	var seen sync.Map
	failing := func(_ context.Context, req *provider.Request) error {
		id, _, _ := strings.Cut(req.ID, "/")
		if _, again := seen.LoadOrStore(id, true); !again {
			return &provider.Error{Kind: provider.KindAuthentication}
		}
		return nil
	}
	var requests atomic.Int64
	for range workers {
		engine, err := c.order.engineBefore(t.Context(), failing)
		require.NoError(t, err)
		c.hire(t, engine, &requests, map[string]int{queue: 10})
	}
	ids := make([]string, crowd)
	for i := range ids {
		config := short(fmt.Sprint("d", i))
		config.Unattended = false
		var err error
		ids[i], err = c.client.Start(t.Context(), config)
		require.NoError(t, err)
	}
	for _, id := range ids {
		until(t, "it waits for a person", func() bool { return c.state(t, id) == flow.StateAwaitingInput })
	}
	if longform.Asked() {
		c.watchIdle(t, &requests)
	}

	given := make(map[string]time.Time)
	for i, id := range ids {
		record := stage.StoredRecord(t, c.client.Engine, id)
		require.Len(t, record.Inquiries, 1)
		inquiry := record.Inquiries[0].ID
		given[id] = time.Now()
		if i%2 == 0 {
			require.NoError(t, c.client.Control(t.Context(), id, flow.Answer{Inquiry: inquiry, Option: flow.OptionRetry}))
			continue
		}
		_, err := c.update(t, id, temporal.Control{Action: temporal.ActionAnswer, Inquiry: inquiry, Option: flow.OptionRetry})
		require.NoError(t, err)
	}
	ended(t, c.client.Engine, crowd)
	asked := c.tally(t).asked
	var byClient, byUpdate []time.Duration
	for i, id := range ids {
		next := slices.IndexFunc(asked[id], func(a flows.Asked) bool { return a.At.After(given[id]) })
		require.GreaterOrEqual(t, next, 0, id)
		heard := asked[id][next].At.Sub(given[id])
		if i%2 == 0 {
			byClient = append(byClient, heard)
		} else {
			byUpdate = append(byUpdate, heard)
		}
	}
	slices.Sort(byClient)
	slices.Sort(byUpdate)
	figuref("from an answer to the next call: by the client p50 %s, p99 %s; by an update p50 %s, p99 %s", flows.Quantile(byClient, 0.5),
		flows.Quantile(byClient, 0.99), flows.Quantile(byUpdate, 0.5), flows.Quantile(byUpdate, 0.99))
	if longform.Asked() { // a few measure the machine
		assert.Less(t, flows.Quantile(byClient, 0.5), 10*time.Second)
	}
}

// watchIdle counts the requests of workers while all debates wait for a person.
func (c *cluster) watchIdle(t *testing.T, requests *atomic.Int64) {
	t.Helper()
	wait(t, time.Second)
	before, used := requests.Load(), processor(c.server.PID())
	wait(t, *span)
	each := float64(requests.Load()-before) / span.Seconds()
	figuref("idle workers, and debates that wait for a person: %.2f requests a second in all; the server uses %.1f %% of a core",
		each, 100*(processor(c.server.PID())-used).Seconds()/span.Seconds())
	assert.Less(t, each, 40.0)
}

// A tenant with many debates delays those of no other: each has a task queue, and a share of the places. No call is answered until each
// tenant has as many in flight as it can.
func TestFairness(t *testing.T) {
	t.Parallel()
	const share = 1
	crowd, tenants, workers := min(*crowd, 100), longform.Or(10, 3), longform.Or(4, 2)
	each := max(crowd/10, 1) // debates of all but the first, who has three times as many
	c := newCluster(t, order{Latency: *latency, Lease: usual})
	c.client.Options = func(info debate.Info, o *client.StartWorkflowOptions) {
		o.TaskQueue = "tenant-" + info.Labels["tenant"]
	}
	begin := func(tenant, i int) {
		config := short(fmt.Sprintf("t%d.%d", tenant, i))
		config.Labels = map[string]string{"tenant": fmt.Sprint(tenant)}
		_, err := c.client.Start(t.Context(), config)
		require.NoError(t, err)
	}
	all, queues, room := 0, make(map[string]int), make([]int, tenants) // room: for calls of each tenant
	for tenant := range tenants {
		queues[fmt.Sprint("tenant-", tenant)] = share
		n := each
		if tenant == 0 {
			n = 3 * each
		}
		room[tenant] = min(n, workers*share)
		for i := range n {
			begin(tenant, i)
			all++
		}
	}
	var mu sync.Mutex
	full, gate := 0, make(chan struct{})
	before := func(ctx context.Context, req *provider.Request) error {
		var tenant int
		_, err := fmt.Sscanf(req.ID, "t%d.", &tenant)
		assert.NoError(t, err)
		mu.Lock()
		if room[tenant]--; room[tenant] == 0 {
			if full++; full == tenants {
				close(gate)
			}
		}
		mu.Unlock()
		select {
		case <-gate:
		case <-ctx.Done():
		}
		return flows.Slowly(*latency)(ctx, req)
	}
	began := time.Now()
	for range workers {
		engine, err := c.order.engineBefore(t.Context(), before)
		require.NoError(t, err)
		c.hire(t, engine, new(atomic.Int64), queues)
	}
	ended(t, c.client.Engine, all)
	first, last := make([]time.Duration, tenants), make([]time.Duration, tenants)
	for id, calls := range c.tally(t).asked {
		var tenant, i int
		_, err := fmt.Sscanf(id, "t%d.%d", &tenant, &i)
		require.NoError(t, err)
		first[tenant] = max(first[tenant], calls[0].At.Sub(began))
		last[tenant] = max(last[tenant], calls[len(calls)-1].At.Sub(began))
	}
	for what, waits := range map[string][]time.Duration{"first call": first, "last call": last} {
		others := slices.Sorted(slices.Values(waits[1:]))
		fair := others[len(others)/2]
		figuref("%d tenants, one of them with three times %d debates: until a debate's %s the longest wait of that one %s, the fair one %s, "+
			"the longest of the others %.2f x", tenants, each, what, waits[0].Round(time.Millisecond), fair.Round(time.Millisecond),
			float64(others[len(others)-1])/float64(fair))
		if longform.Asked() { // a few measure the machine, and the gate has shown that each tenant gets its places
			assert.LessOrEqual(t, others[len(others)-1], 2*fair)
		}
	}
}
