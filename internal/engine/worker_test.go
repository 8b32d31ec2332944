package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
)

// Three workers look for debates with which nobody goes on. Each debate is finished once.
func TestWorkers(t *testing.T) {
	t.Parallel()
	const debates, workers = 30, 3
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		host := join()
		var ids []string
		for i := range debates {
			c.Config.ID = fmt.Sprintf("work-%d", i)
			s := host.Begun()
			ids = append(ids, s.ID())
			stage.Pass(20 * time.Millisecond)
			if i%5 == 0 {
				require.NoError(t, s.Pause(t.Context()))
				stage.Pass(20 * time.Millisecond)
			}
		}
		require.NoError(t, host.Shutdown(t.Context()))
		for i := 0; i < debates; i += 5 { // another process has no session of it, and no lease
			require.NoError(t, join().Control(t.Context(), ids[i], flow.Resume{}))
		}
		find := debate.Filter{Working: true, Idle: true, Limit: 2}
		opened := make([][]string, workers)
		var group sync.WaitGroup
		for w := range workers {
			m := join()
			group.Go(func() {
				for range 1000 {
					var found []string
					for info, err := range m.List(t.Context(), find) {
						require.NoError(t, err)
						found = append(found, info.ID)
					}
					if len(found) == 0 {
						return
					}
					for _, id := range found {
						s, err := m.Open(t.Context(), id)
						if errors.Is(err, debate.ErrLeased) {
							continue // somebody was faster
						}
						require.NoError(t, err)
						if s.State() == flow.StateCompleted {
							continue
						}
						opened[w] = append(opened[w], id)
						_, err = s.Wait(t.Context())
						assert.NoError(t, err)
					}
				}
			})
		}
		group.Wait()
		all := slices.Concat(opened...)
		slices.Sort(ids)
		slices.Sort(all)
		assert.Equal(t, ids, all, "each was opened by one")
		for w := range workers {
			assert.NotEmpty(t, opened[w])
		}
		for _, id := range ids {
			c.Config.ID = id
			c.Finished(id)
		}
	})
}
