package sql_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/limit"
	"github.com/agonist-dev/debate/provider/limit/limittest"
	"github.com/agonist-dev/debate/store/sql"
)

var _ limit.Ledger = (*sql.Store)(nil)

// caller notes when it is called.
type caller struct {
	mu     sync.Mutex
	starts []time.Time
	answer func(req *provider.Request) (*provider.Response, error)
}

func (c *caller) Generate(_ context.Context, req *provider.Request, _ func(provider.Chunk)) (*provider.Response, error) {
	c.mu.Lock()
	c.starts = append(c.starts, time.Now())
	c.mu.Unlock()
	if c.answer != nil {
		return c.answer(req)
	}
	return &provider.Response{Text: "Yes."}, nil
}

func (c *caller) calls() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.starts)
}

// counted counts the updates of a ledger.
type counted struct {
	limit.Ledger
	updates atomic.Int64
}

func (c *counted) UpdateLimit(ctx context.Context, name string, change func([]byte, time.Time) []byte) error {
	c.updates.Add(1)
	return c.Ledger.UpdateLimit(ctx, name, change)
}

func TestALedgerConforms(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		var ledgers int
		limittest.Run(t, func(testing.TB) limittest.Open {
			ledgers++
			if ledgers > 1 {
				s.execute(t, `DELETE FROM debate_limit`)
			}
			return func(t testing.TB) limit.Ledger { return s.store(t) }
		})
	})
}

// Machines with stores of their own on one database start no more calls than the limit allows, and each starts some. In the long form
// they start as many as it allows.
func TestMachinesShareALimit(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		const machines, requests = 4, 12_000
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var group sync.WaitGroup
		var callers [machines]caller
		var ledgers [machines]counted
		began := time.Now()
		for i := range machines {
			ledgers[i].Ledger = s.store(t)
			limits := &limit.Rate{Requests: requests, Burst: 20, Ledger: &ledgers[i]}
			t.Cleanup(limits.Close)
			p := limits.Wrap("v", &callers[i])
			for range 50 {
				group.Go(func() {
					for ctx.Err() == nil {
						_, _ = p.Generate(ctx, &provider.Request{Model: "m"}, func(provider.Chunk) {})
					}
				})
			}
		}
		least := longform.Or(2*time.Second, 0)
		eventually(t, func() bool {
			sum, each := 0, true
			for i := range callers {
				n := callers[i].calls()
				sum, each = sum+n, each && n > 5
			}
			return sum >= 400 && each && time.Since(began) >= least // far more than the limit allows at once
		})
		cancel()
		group.Wait()
		var all []time.Time
		var parts []int
		var updates int64
		for i := range machines {
			all = append(all, callers[i].starts...)
			parts = append(parts, callers[i].calls())
			updates += ledgers[i].updates.Load()
		}
		slices.SortFunc(all, time.Time.Compare)
		passed := all[len(all)-1].Sub(all[0])
		reached := float64(len(all)) / (requests / 60 * passed.Seconds())
		t.Logf("%.3f of the limit, %v by machine; %.0f calls and %.0f queries a second", reached, parts,
			float64(len(all))/passed.Seconds(), float64(2*updates)/passed.Seconds())
		if longform.Asked() {
			assert.GreaterOrEqual(t, reached, 0.9)
		}
		for i := range all {
			for j := i; j < len(all); j++ {
				passed := all[j].Sub(all[i])
				require.LessOrEqual(t, float64(j-i+1), 21+requests/64*(passed+time.Second).Seconds(), passed)
			}
		}
	})
}
