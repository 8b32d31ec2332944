package simulation_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// limitFigures count what the debates went through.
type limitFigures struct {
	ends                    map[string]int // by state and reason
	met                     map[string]int
	worst, settled          map[string]float64 // shares of a hard limit, the first with what was reserved
	events, turns, verdicts int
}

func newLimitFigures() *limitFigures {
	return &limitFigures{
		ends: make(map[string]int), met: make(map[string]int), worst: make(map[string]float64), settled: make(map[string]float64),
	}
}

func (f *limitFigures) count(what string) { f.met[what]++ }

func (f *limitFigures) ended(state, reason string) { f.ends[state+", "+reason]++ }

// String yields the figures, a line for each sort.
func (f *limitFigures) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "events %d, turns %d, verdicts %d", f.events, f.turns, f.verdicts)
	fmt.Fprintf(&b, "\nended in")
	for _, key := range slices.Sorted(maps.Keys(f.ends)) {
		fmt.Fprintf(&b, "\n  %s: %d", key, f.ends[key])
	}
	fmt.Fprintf(&b, "\nmet")
	for _, key := range slices.Sorted(maps.Keys(f.met)) {
		fmt.Fprintf(&b, "\n  %s: %d", key, f.met[key])
	}
	for _, key := range slices.Sorted(maps.Keys(f.worst)) {
		fmt.Fprintf(&b, "\nhighest share of a hard limit: %s %.4f, settled %.4f", key, f.worst[key], f.settled[key])
	}
	return b.String()
}
