//go:build !race

package debate_test

import "github.com/agonist-dev/debate/internal/long"

// slower is how much longer something may take than without the race detector.
const slower = 1

var (
	simRuns   = long.Or[uint64](2_000, 200)   // seeds that TestSimulation plays
	limitRuns = long.Or[uint64](10_000, 1000) // seeds that TestSimulationOfLimits plays

	// fewer divides the numbers of seeds of the other properties.
	fewer = long.Or(1, 8)
)
