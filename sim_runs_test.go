//go:build !race

package debate_test

// simRuns is how many seeds are played by default.
const simRuns = 2_000
