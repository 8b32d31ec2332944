package durable_test

import (
	"runtime"
	"slices"
	"testing"
	"time"
)

// lap is what one block of debates took.
type lap struct{ wall, cpu time.Duration }

// race lets the floor and the engine run in turn, so that whatever else the machine does falls on both
// alike, and reports the medians of so many debates, of so many steps in all, per lap.
//
//	x-floor        wall time of the engine, as a multiple of the floor's
//	x-floor-cpu    the same for the processor time of this process
//	ms/debate      wall time of a debate; floor-ms/debate: the floor's
//	steps/s        calls whose results are on the disk; floor-steps/s: the floor's
func race(b *testing.B, debates, steps int, floor, engine func(lap int)) {
	b.Helper()
	var laps [2][]lap
	for turn := 0; b.Loop(); turn++ {
		for side := range laps { // which begins alternates
			side = (side + turn) % 2
			run := []func(int){floor, engine}[side]
			runtime.GC()
			cpu, began := cpuTime(), time.Now()
			run(turn)
			laps[side] = append(laps[side], lap{time.Since(began), cpuTime() - cpu})
		}
	}
	var wall, cpu, ours, theirs []float64
	for i := range laps[0] {
		floor, engine := laps[0][i], laps[1][i]
		ours, theirs = append(ours, engine.wall.Seconds()), append(theirs, floor.wall.Seconds())
		wall = append(wall, engine.wall.Seconds()/floor.wall.Seconds())
		if floor.cpu > 0 {
			cpu = append(cpu, engine.cpu.Seconds()/floor.cpu.Seconds())
		}
	}
	b.ReportMetric(0, "ns/op") // of both sides together: it says nothing
	b.ReportMetric(middle(wall), "x-floor")
	b.ReportMetric(middle(cpu), "x-floor-cpu")
	b.ReportMetric(middle(ours)*1e3/float64(debates), "ms/debate")
	b.ReportMetric(middle(theirs)*1e3/float64(debates), "floor-ms/debate")
	b.ReportMetric(float64(steps)/middle(ours), "steps/s")
	b.ReportMetric(float64(steps)/middle(theirs), "floor-steps/s")
}

// middle returns the median; of nothing it is 0.
func middle(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
