package simulation_test

import "github.com/agonist-dev/debate/internal/longform"

// fewer divides the numbers of seeds.
var fewer = longform.Fewer()

// simRuns is how many seeds TestSimulation plays.
func simRuns() uint64 {
	if longform.Race {
		return 30
	}
	return longform.Or[uint64](2_000, 40)
}

// limitRuns is how many seeds TestSimulationOfLimits plays.
func limitRuns() uint64 {
	if longform.Race {
		return 200
	}
	return longform.Or[uint64](10_000, 300)
}

// redactionRuns is how many seeds TestRedactions plays.
func redactionRuns() uint64 {
	if longform.Race {
		return 60
	}
	return longform.Or[uint64](1_000, 80)
}

// hostileRuns is how many seeds TestHostileLogsAndConfigs plays.
func hostileRuns() uint64 {
	if longform.Race {
		return 100
	}
	return longform.Or[uint64](5_000, 120)
}
