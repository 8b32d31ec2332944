//go:build race

package debate_test

// The numbers of seeds are smaller under the race detector, which has little to look for in a core without goroutines.
const (
	simRuns   = 60
	limitRuns = 500

	// fewer divides the numbers of seeds of the other properties.
	fewer = 8

	// slower is how much longer something may take than without the race detector.
	slower = 8
)
