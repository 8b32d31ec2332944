package bench_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/bench"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// workload is what is measured.
type workload struct {
	engine *debate.Engine
	store  *store.Memory
	config debate.Config
}

// newWorkload makes the workload W1: three debaters, a judge, so many rounds, all of it read by
// everybody. Prices and a budget are set, so that each call's worst case is reserved.
func newWorkload(t testing.TB, rounds int, p provider.Provider) *workload {
	t.Helper()
	b := &workload{store: &store.Memory{}, config: bench.Config(rounds)}
	b.config.Budget = &debate.Budget{Hard: 1_000_000 * debate.USD}
	b.engine = b.engineOver(p)
	b.play(t) // caches are cold
	return b
}

func (b *workload) engineOver(p provider.Provider) *debate.Engine {
	return &debate.Engine{
		Providers: map[string]debate.Provider{"bench": p},
		Models: map[string]debate.Model{
			"bench/debater": {Priced: true, Input: 1_000_000, Output: 2_000_000, CachedInput: 100_000, CacheWrite: 1_250_000},
			"bench/judge":   {Priced: true, Input: 3_000_000, Output: 9_000_000, CachedInput: 300_000, CacheWrite: 3_750_000},
		},
		Store: b.store,
	}
}

// play lets the engine play one debate, and forgets it.
func (b *workload) play(t testing.TB) {
	record, err := b.engine.Play(context.Background(), b.config)
	require.NoError(t, err)
	b.forget(t, record)
}

// forget deletes a debate that has completed.
func (b *workload) forget(t testing.TB, record *debate.Record) {
	require.Equal(t, flow.StateCompleted, record.State)
	require.NoError(t, b.store.Delete(context.Background(), record.ID))
}

// lap is what one block of debates took.
type lap struct {
	wall, cpu      time.Duration
	mallocs, bytes uint64
}

// timed measures do, which begins with a heap that holds no garbage of others.
func timed(do func()) lap {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	do()
	wall := time.Since(began)
	runtime.ReadMemStats(&after)
	return lap{wall: wall, mallocs: after.Mallocs - before.Mallocs, bytes: after.TotalAlloc - before.TotalAlloc}
}

// alternate runs blocks of the sides in turn, so that whatever else the machine does falls on all
// of them alike, and yields the laps of each.
func alternate(b *testing.B, sides ...func()) [][]lap {
	laps := make([][]lap, len(sides))
	for turn := 0; b.Loop(); turn++ {
		for i := range sides {
			side := (turn + i) % len(sides)
			laps[side] = append(laps[side], timed(sides[side]))
		}
	}
	b.ReportMetric(0, "ns/op") // of both sides together: it says nothing
	return laps
}

// median yields the middle of what the laps give.
func median(laps []lap, of func(lap) float64) float64 {
	values := make([]float64, len(laps))
	for i := range laps {
		values[i] = of(laps[i])
	}
	return middle(values)
}

// ratio yields the middle of the ratios of laps that ran one after the other.
func ratio(over, under []lap, of func(lap) float64) float64 {
	var values []float64
	for i := range over {
		if of(under[i]) > 0 {
			values = append(values, of(over[i])/of(under[i]))
		}
	}
	return middle(values)
}

func middle(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func wallTime(l lap) float64  { return float64(l.wall) }
func cpuShare(l lap) float64  { return float64(l.cpu) }
func mallocs(l lap) float64   { return float64(l.mallocs) }
func allocated(l lap) float64 { return float64(l.bytes) }

// BenchmarkW1 plays whole debates with a provider that answers at once: for profiles. Command peers measures the same beside a bare loop.
func BenchmarkW1(b *testing.B) {
	for _, rounds := range []int{10, 100, 500} {
		b.Run(fmt.Sprintf("R=%d", rounds), func(b *testing.B) {
			w := newWorkload(b, rounds, bench.NewScript())
			b.ReportAllocs()
			for b.Loop() {
				w.play(b)
			}
		})
	}
}

// TestAllocationIsLinearInRounds holds the engine to memory that grows with the number of rounds and
// not with its square: as many rounds more allocate the same behind a few rounds and behind many. What a
// debate allocates once is in neither difference.
func TestAllocationIsLinearInRounds(t *testing.T) {
	play := func(rounds int) lap {
		w := newWorkload(t, rounds, bench.NewScript()) // which has played it once
		return timed(func() { w.play(t) })
	}
	few, more := longform.Or(100, 50), longform.Or(200, 100)
	short, middle, long := play(few), play(few+more), play(few+2*more)
	earlier := func(of func(lap) float64) float64 { return (of(middle) - of(short)) / float64(more) }
	later := func(of func(lap) float64) float64 { return (of(long) - of(middle)) / float64(more) }
	t.Logf("a round up to %d: %.0f allocations, %.0f bytes; up to %d: %.0f and %.0f",
		few+more, earlier(mallocs), earlier(allocated), few+2*more, later(mallocs), later(allocated))
	assert.InEpsilon(t, earlier(mallocs), later(mallocs), 0.15, "allocations per round")
	assert.InEpsilon(t, earlier(allocated), later(allocated), 0.15, "bytes per round")
}

// BenchmarkNearWindow plays debates whose conversation comes near everybody's window, so that it is counted
// in tokens, beside the same ones without a window.
//
//	x-unbounded   wall time, as a multiple of that without a window
//	µs/turn       what a turn takes longer
func BenchmarkNearWindow(b *testing.B) {
	const rounds = 100
	bounded, unbounded := newWorkload(b, rounds, bench.NewScript()), newWorkload(b, rounds, bench.NewScript())
	bounded.narrow(400_000)
	laps := alternate(b, func() { unbounded.play(b) }, func() { bounded.play(b) })
	b.ReportMetric(ratio(laps[1], laps[0], wallTime), "x-unbounded")
	turns := float64(rounds * len(bounded.config.Participants))
	b.ReportMetric((median(laps[1], wallTime)-median(laps[0], wallTime))/turns/1e3, "µs/turn")
}

// TestATurnIsCountedOnceForAllModelsOfAVocabulary holds what is counted to be kept: with a model for each
// speaker a debate near its window does the work that it does with one for all.
func TestATurnIsCountedOnceForAllModelsOfAVocabulary(t *testing.T) {
	allocated := func(models ...string) float64 {
		w := newWorkload(t, 20, bench.NewScript())
		for i, model := range models {
			w.config.Participants[i].Model = "bench/" + model
		}
		w.narrow(80_000)
		w.play(t)
		return float64(timed(func() { w.play(t) }).bytes)
	}
	assert.InEpsilon(t, allocated("debater", "debater", "debater"), allocated("debater", "gpt-4o", "gpt-4.1"), 0.1)
}

// narrow gives all models a window of so many tokens, by an engine that has played nothing: it reads its models once.
func (b *workload) narrow(tokens int) {
	b.engine = b.engineOver(b.engine.Providers["bench"])
	model := b.engine.Models["bench/debater"]
	model.Window = tokens
	judge := b.engine.Models["bench/judge"]
	judge.Window = tokens
	b.engine.Models = map[string]debate.Model{
		"bench/debater": model, "bench/gpt-4o": model, "bench/gpt-4.1": model, "bench/judge": judge,
	}
}
