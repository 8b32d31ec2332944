//go:build !race

package debate_test

// The numbers of seeds that are played by default, and of the limits' with -short.
const (
	simRuns        = 2_000
	limitRuns      = 10_000
	limitRunsShort = 2_500

	// fewer divides the numbers of seeds of the other properties.
	fewer = 1
)
