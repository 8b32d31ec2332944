//go:build !race

package debate_test

import "github.com/agonist-dev/debate/internal/longform"

// slower is how much longer something may take than without the race detector.
const slower = 1

var (
	simRuns   = longform.Or[uint64](2_000, 200)   // seeds that TestSimulation plays
	limitRuns = longform.Or[uint64](10_000, 1000) // seeds that TestSimulationOfLimits plays

	// fewer divides the numbers of seeds of the other properties.
	fewer = longform.Or(1, 8)
)
