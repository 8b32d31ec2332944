package bench_test

import (
	"context"
	"flag"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/bench"
)

var crowdSize = flag.Int("debates", 1000, "how many debates BenchmarkCrowd plays at once")

const crowdRounds = 10

// crowdLap is what a crowd of debates took, the making of its requests and replies included.
type crowdLap struct {
	cpu    time.Duration
	memory uint64 // live heap and stacks while all debates wait for their verdicts
}

// BenchmarkCrowd plays many debates at once whose calls take 50 ms each.
//
//	x-floor-cpu      processor time per debate, as a multiple of the floor's
//	x-floor-memory   memory per debate after a collection, stacks included, while all debates wait
//	                 for their verdicts, as a multiple of the floor's
//
// It takes about five seconds for a thousand debates, and holds 300 KiB for each.
func BenchmarkCrowd(b *testing.B) {
	n := *crowdSize
	p := bench.NewScript()
	p.Latency = 50 * time.Millisecond
	w := newWorkload(b, crowdRounds, p)
	var floor, engine []crowdLap
	for turn := 0; b.Loop(); turn++ {
		if turn%2 == 0 {
			floor = append(floor, w.crowdOnFloor(b, p, n))
			engine = append(engine, w.crowdOnEngine(b, p, n))
		} else {
			engine = append(engine, w.crowdOnEngine(b, p, n))
			floor = append(floor, w.crowdOnFloor(b, p, n))
		}
	}
	b.ReportMetric(0, "ns/op")
	var cpuRatio, memoryRatio, cpu, memory, floorCPU, floorMemory []float64
	for i := range engine {
		if floor[i].cpu > 0 {
			cpuRatio = append(cpuRatio, float64(engine[i].cpu)/float64(floor[i].cpu))
		}
		memoryRatio = append(memoryRatio, float64(engine[i].memory)/float64(floor[i].memory))
		cpu = append(cpu, float64(engine[i].cpu)/float64(n)/1e3)
		memory = append(memory, float64(engine[i].memory)/float64(n)/1024)
		floorCPU = append(floorCPU, float64(floor[i].cpu)/float64(n)/1e3)
		floorMemory = append(floorMemory, float64(floor[i].memory)/float64(n)/1024)
	}
	b.ReportMetric(middle(cpuRatio), "x-floor-cpu")
	b.ReportMetric(middle(memoryRatio), "x-floor-memory")
	b.ReportMetric(middle(cpu), "cpu-µs/debate")
	b.ReportMetric(middle(floorCPU), "floor-cpu-µs/debate")
	b.ReportMetric(middle(memory), "KiB/debate")
	b.ReportMetric(middle(floorMemory), "floor-KiB/debate")
}

func (b *workload) crowdOnFloor(t testing.TB, p *bench.Script, n int) crowdLap {
	return crowded(p, n, func() (finish func()) {
		var done sync.WaitGroup
		kept := make([]*floored, n)
		for i := range n {
			done.Go(func() { kept[i], _ = b.floor.play(context.Background(), noChunk) })
		}
		return func() {
			done.Wait()
			for _, out := range kept {
				require.NotNil(t, out)
			}
		}
	})
}

func (b *workload) crowdOnEngine(t testing.TB, p *bench.Script, n int) crowdLap {
	return crowded(p, n, func() (finish func()) {
		sessions := make([]*debate.Session, n)
		for i := range sessions {
			session, err := b.engine.Start(context.Background(), b.config)
			require.NoError(t, err)
			sessions[i] = session
		}
		return func() {
			for i, session := range sessions {
				b.conclude(t, session)
				sessions[i] = nil
			}
		}
	})
}

// crowded measures n debates, which start begins and finish waits for. What the collections and the
// reading of memory cost is left out of the processor time.
func crowded(p *bench.Script, n int, start func() (finish func())) crowdLap {
	last := newGate(n)
	p.Hold = last.pass
	before := liveMemory()
	cpu := cpuTime()
	finish := start()
	<-last.full
	used := cpuTime() - cpu
	memory := liveMemory() - before
	cpu = cpuTime()
	close(last.open)
	finish()
	return crowdLap{used + cpuTime() - cpu, memory}
}

// liveMemory is what is reachable, and the stacks.
func liveMemory() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers and pools held back
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// gate holds a crowd until all of it is there and somebody has looked at it.
type gate struct {
	missing atomic.Int64
	full    chan struct{}
	open    chan struct{}
}

func newGate(crowd int) *gate {
	g := &gate{full: make(chan struct{}), open: make(chan struct{})}
	g.missing.Store(int64(crowd))
	return g
}

func (g *gate) pass() {
	if g.missing.Add(-1) == 0 {
		close(g.full)
	}
	<-g.open
}
