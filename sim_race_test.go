//go:build race

package debate_test

// The numbers of seeds are smaller under the race detector, which has little to look for in a core without goroutines.
const (
	simRuns        = 60
	limitRuns      = 500
	limitRunsShort = 500

	// fewer divides the numbers of seeds of the other properties.
	fewer = 8
)
