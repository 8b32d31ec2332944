package river_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
	worker "github.com/agonist-dev/debate/worker/river"
)

// Ten tenants compete for the places of four workers, of which there are fewer than debates of any tenant but the lightest. One has
// twenty times the debates of the light ones, and one four times. The heaviest has all places when the others come.
//
// A wait is counted in debates that begin before, once all have come: no clock is read. A fair scheduler gives each tenant that waits an equal part of the
// places, and what a tenant does not need to the others (max-min). When a tenant with n debates begins its last one, each other tenant
// with m debates has begun min(m, n) of its own. So its longest wait is fair if its last debate is the sum of min(m, n) over all tenants.
func TestFairness(t *testing.T) {
	const tenants = 10
	workers, share := longform.Or(4, 2), longform.Or(3, 2) // share: the places of each worker
	each := max(*crowd/20, 2)
	loads := make([]int, tenants)
	for tenant := range loads {
		loads[tenant] = each
	}
	loads[0], loads[1] = 20*each, 4*each
	p := newPostgres(t)
	options := worker.Options{Route: func(info store.Info) worker.Route { return worker.Route{Queue: "tenant-" + info.Labels["tenant"]} }}
	host := p.opened(t, options)
	engine := engineOn(host.store, nil)
	var mu sync.Mutex
	place := make(map[string]int) // of a debate in the order in which they have begun
	last := make([]int, tenants)  // of each tenant's debates
	gate := make(chan struct{})   // until all have come
	now := func(ctx context.Context, req *provider.Request) error {
		id, _, _ := strings.Cut(req.ID, "/")
		mu.Lock()
		if _, known := place[id]; !known {
			place[id] = len(place) + 1
			var tenant, i int
			_, err := fmt.Sscanf(id, "t%d.%d", &tenant, &i)
			assert.NoError(t, err)
			last[tenant] = place[id]
		}
		mu.Unlock()
		select {
		case <-gate:
		case <-ctx.Done():
		}
		return slowly(*latency)(ctx, req)
	}
	total, queues := 0, make(map[string]int)
	come := func(tenant int) {
		for i := range loads[tenant] {
			submit(t, engine, short(fmt.Sprintf("t%d.%d", tenant, i), map[string]string{"tenant": fmt.Sprint(tenant)}))
			total++
		}
	}
	for tenant := range loads {
		queues[fmt.Sprint("tenant-", tenant)] = share
	}
	begun := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(place)
	}
	come(0)
	for range workers {
		b := p.opened(t, options)
		working(t, b, engineOn(b.store, now), worker.Config{
			Queues: queues, Places: share, Sweep: 10 * time.Second,
			River: &river.Config{TestOnly: true, FetchCooldown: 10 * time.Millisecond, FetchPollInterval: 50 * time.Millisecond},
		})
	}
	eventually(t, "the heaviest tenant has all places", func() bool { return begun() == workers*share })
	for tenant := 1; tenant < tenants; tenant++ {
		come(tenant)
	}
	before := begun()
	close(gate)
	ended(t, engine, total)
	mu.Lock()
	defer mu.Unlock()
	require.Len(t, place, total)
	longest := 0.0
	loads[0] -= before
	for tenant, n := range loads {
		fair := 0
		for _, m := range loads {
			fair += min(m, n)
		}
		ratio := float64(last[tenant]-before) / float64(fair)
		t.Logf("tenant %d: %d debates, the last was number %d to begin; fair %d: %.2f x", tenant, n, last[tenant]-before, fair, ratio)
		assert.LessOrEqual(t, last[tenant]-before, 2*fair, "tenant %d", tenant)
		longest = max(longest, ratio)
	}
	t.Logf("%d tenants, %d debates, %d workers of %d places: longest wait %.2f x the fair one", tenants, total, workers, share, longest)
}
