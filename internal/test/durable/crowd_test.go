package durable_test

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
)

var crowdSize = flag.Int("debates", 1000, "how many debates BenchmarkCrowd plays at once")

const crowdRounds = 2

// BenchmarkCrowd plays many debates of two rounds at once, by a provider that answers at once, or after
// 50 ms. Steps of different debates share commits. So do those of the floor in a database, where one writer
// takes all rows that wait; in files each debate syncs its own. For the figures see race; and
//
//	KiB/debate     live heap and stacks, after a collection, while all debates wait for their verdicts
func BenchmarkCrowd(b *testing.B) {
	for _, kind := range kinds() {
		for _, latency := range []time.Duration{0, 50 * time.Millisecond} {
			b.Run(fmt.Sprintf("%s/latency=%s", kind, latency), func(b *testing.B) {
				c := &crowd{speaker: &speaker{latency: latency}, keeper: newKeeper(b, kind, true)}
				c.engine, c.floor = engineOn(opened(b, newPlace(b, kind)), c.speaker), newFloor(b, c.speaker)
				race(b, *crowdSize, *crowdSize*steps(crowdRounds), func(lap int) {
					play(b, lap, func(id string) error { return c.onFloor(b.Context(), id) })
				}, func(lap int) {
					play(b, lap, func(id string) error { return c.onEngine(b.Context(), id) })
				})
				if latency > 0 {
					b.ReportMetric(c.memory(b)/1024, "KiB/debate")
				}
			})
		}
	}
}

// crowd is many debates at once.
type crowd struct {
	speaker *speaker
	engine  *debate.Engine
	floor   *floor
	keeper  keeper
}

// play plays all debates at once.
func play(b *testing.B, lap int, one func(id string) error) {
	b.Helper()
	errs := make([]error, *crowdSize)
	var running sync.WaitGroup
	for i := range errs {
		running.Go(func() { errs[i] = one(fmt.Sprintf("crowd-%d-%d", lap, i)) })
	}
	running.Wait()
	for _, err := range errs {
		require.NoError(b, err)
	}
}

func (c *crowd) onFloor(ctx context.Context, id string) error {
	keep, end, err := c.keeper.keep(id)
	if err != nil {
		return err
	}
	if err := c.floor.play(ctx, crowdRounds, keep); err != nil {
		return err
	}
	return end()
}

func (c *crowd) onEngine(ctx context.Context, id string) error {
	session, err := c.engine.Start(ctx, workload(id, crowdRounds))
	if err != nil {
		return err
	}
	if _, err := session.Wait(ctx); err != nil {
		return err
	}
	return session.Close()
}

// memory is what a debate of the engine takes while all wait for their verdicts.
func (c *crowd) memory(b *testing.B) float64 {
	b.Helper()
	before := liveMemory()
	last := newGate(*crowdSize)
	c.speaker.last = last
	defer func() { c.speaker.last = nil }()
	var taken uint64
	var looking sync.WaitGroup
	looking.Go(func() {
		<-last.full
		taken = liveMemory() - before
		close(last.open)
	})
	play(b, -1, func(id string) error { return c.onEngine(b.Context(), id) })
	looking.Wait()
	return float64(taken) / float64(*crowdSize)
}

// liveMemory is what is reachable, and the stacks.
func liveMemory() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers and pools held back
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
