package file_test

import (
	"maps"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/store"
)

// Several handles append and list at once, and each list writes the index. No list tells less of a
// conversation than was appended before it began, and the last one tells everything.
func TestListsBesideWriters(t *testing.T) {
	const writers, listers, commits = 4, 3, 60
	d := newDrive()
	var mu sync.Mutex
	appended := map[string]int64{}
	known := func() map[string]int64 {
		mu.Lock()
		defer mu.Unlock()
		return maps.Clone(appended)
	}
	var writing, listing sync.WaitGroup
	done := make(chan struct{})
	for w := range writers {
		writing.Go(func() {
			s, rng := stored(d), rand.New(rand.NewPCG(uint64(w), 2))
			id, seq := string(rune('a'+w)), int64(0)
			for range commits {
				n := 1 + rng.IntN(3)
				if !assert.NoError(t, s.Append(t.Context(), id, seq, "w", facts(seq, n))) {
					return
				}
				seq += int64(n)
				mu.Lock()
				appended[id] = seq
				mu.Unlock()
			}
		})
	}
	for range listers {
		listing.Go(func() {
			for over := false; !over; {
				select {
				case <-done:
					over = true
				default:
				}
				before, seen := known(), map[string]int64{}
				for info, err := range stored(d).List(t.Context(), store.Filter{}) {
					assert.NoError(t, err)
					assert.NoError(t, info.Err)
					seen[info.ID] = info.Seq
				}
				for id, seq := range before {
					assert.GreaterOrEqual(t, seen[id], seq)
				}
			}
		})
	}
	writing.Wait()
	close(done)
	listing.Wait()
	require.NotNil(t, d.get("index"))
	seen := map[string]int64{}
	for info, err := range stored(d).List(t.Context(), store.Filter{}) {
		require.NoError(t, err)
		seen[info.ID] = info.Seq
	}
	assert.Equal(t, known(), seen)
	assert.Equal(t, told(stored(d.without("index")), store.Filter{}), told(stored(d), store.Filter{}))
}
