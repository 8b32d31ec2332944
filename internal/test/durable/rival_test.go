package durable_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/process"
)

// TestRivals lets several workers go on with the same debates, one of which is killed again and again.
func TestRivals(t *testing.T) { // beside the other tests there would be too many processes, and connections
	want := undisturbed(t, lengthy)
	for _, kind := range kinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			for _, workers := range longform.Or([]int{2, 3}, []int{2}) {
				t.Run(fmt.Sprint(workers), func(t *testing.T) { rival(t, kind, workers, want) })
			}
		})
	}
}

// rival lets so many workers compete for debates that a process has left.
func rival(t *testing.T, kind string, workers int, want string) {
	t.Helper()
	place := newPlace(t, kind)
	o := order{
		Task: "begin", Place: place, Ledger: filepath.Join(t.TempDir(), "ledger"), Play: lengthy,
		Lease: shortLease, Latency: time.Hour, // none is over when the process dies
	}
	for i := range 5 {
		o.IDs = append(o.IDs, fmt.Sprint("rivals-", i))
	}
	_, killed := process.Launch(t, o).Wait(t)
	require.True(t, killed)
	o.Latency = 5 * time.Millisecond
	kills := compete(t, o, workers)

	sum := contest{}
	store := opened(t, place)
	calls := readLedger(t, o.Ledger)
	for _, id := range o.IDs {
		record := stage.StoredRecord(t, engineOn(store, nil), id)
		assert.Equal(t, want, stage.Canonical(t, record))
		sum.add(id, calls, logOf(t, store, id))
	}
	figuref("%d resumers, %s: %d debates, %d kills, %d takeovers, double advances %d, repeats %d",
		workers, kind, len(o.IDs), kills, sum.takeovers, sum.doubles, sum.repeats)
	assert.Zero(t, sum.doubles, "double advances")
	assert.Zero(t, sum.repeats, "repeats")
	assert.GreaterOrEqual(t, kills, workers)
	assert.GreaterOrEqual(t, sum.takeovers, len(o.IDs))
}

// compete lets workers work until all debates are over. Some are killed, each where chance has it, and
// replaced.
func compete(t *testing.T, o order, workers int) (kills int) {
	t.Helper()
	o.Task = "work"
	var running sync.WaitGroup
	var chance sync.Mutex
	dice, left := rand.New(rand.NewPCG(uint64(workers), uint64(len(o.Place.Kind)))), 2*workers
	next := func() order {
		chance.Lock()
		defer chance.Unlock()
		next := o
		if left > 0 {
			left--
			next.Kill.Number = 10 + dice.Int64N(40)
		}
		return next
	}
	var killed atomic.Int64
	for i := range workers {
		running.Go(func() {
			t.Run(fmt.Sprint("worker-", i), func(t *testing.T) {
				for {
					if _, dead := process.Launch(t, next()).Wait(t); !dead {
						return
					}
					killed.Add(1)
				}
			})
		})
	}
	running.Wait()
	return int(killed.Load())
}

// contest is what rivals have done to debates.
type contest struct{ takeovers, doubles, repeats int }

// add looks at one debate: the ledger has its lines in the order in which things happened.
func (c *contest) add(id string, lines []entry, log []flow.Event) {
	made, results, kept := make(map[attempt]bool), make(map[string]int), make(map[int64]bool) // results: the attempts of calls
	holder := 0
	for _, e := range lines {
		if e.Debate != id {
			continue
		}
		switch e.What {
		case began:
			if made[attempt{e.Call, e.Attempt}] {
				c.doubles++
			}
			if had, ok := results[e.Call]; ok && e.Attempt > had { // whoever is late writes down an earlier one
				c.repeats++
			}
			made[attempt{e.Call, e.Attempt}] = true
		case appended:
			if holder != 0 && holder != e.Process {
				c.takeovers++
			}
			holder = e.Process
			for i := e.First; i <= e.Last; i++ {
				if kept[i] {
					c.doubles++ // two have appended it
				}
				kept[i] = true
				if spend, outcome := settled(&log[i-1]); outcome == done {
					results[spend.Call] = spend.Attempt
				}
			}
		default:
		}
	}
}
