package sql_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/postgres"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/limit"
	"github.com/agonist-dev/debate/store/sql"
)

// The server is killed and started again under load. The machines wait for it and go on, within the limit.
func killBesideLimits(t *testing.T, server *postgres.Server) {
	t.Helper()
	url, err := server.Database(t.Context())
	require.NoError(t, err)
	const requests = 6000
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var group sync.WaitGroup
	var v caller
	var killed atomic.Pointer[time.Time]
	for range 3 {
		kept, err := sql.OpenPostgres(t.Context(), url)
		require.NoError(t, err)
		defer func() { assert.NoError(t, kept.Close()) }()
		limits := &limit.Rate{Requests: requests, Burst: 10, Ledger: kept}
		defer limits.Close()
		p := limits.Wrap("v", &v)
		for range 20 {
			group.Go(func() {
				for ctx.Err() == nil {
					_, err := p.Generate(ctx, &provider.Request{Model: "m"}, func(provider.Chunk) {})
					// A server that starts so slowly is given up.
					if at := killed.Load(); ctx.Err() == nil && (at == nil || time.Since(*at) < 10*time.Second) {
						assert.NoError(t, err)
					}
				}
			})
		}
	}
	reach := func(n int) {
		t.Helper()
		eventually(t, func() bool { return v.calls() >= n })
	}
	reach(50)
	killed.Store(new(time.Now()))
	require.NoError(t, server.Kill())
	require.NoError(t, server.Restart(t.Context()))
	restarted := time.Now()
	reach(v.calls() + 50)
	t.Logf("down for %v, 50 more calls %v later", restarted.Sub(*killed.Load()), time.Since(restarted))
	cancel()
	group.Wait()
	for i := range v.starts {
		for j := i; j < len(v.starts); j++ {
			passed := v.starts[j].Sub(v.starts[i])
			require.LessOrEqual(t, float64(j-i+1), 11+requests/64*(passed+time.Second).Seconds(), passed)
		}
	}
}
