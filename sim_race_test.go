//go:build race

package debate_test

// simRuns is smaller under the race detector, which has little to look for in a core without goroutines.
const simRuns = 60
