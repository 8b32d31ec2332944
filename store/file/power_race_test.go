//go:build race

package file_test

// The race detector has little to look for in a run without goroutines.
const (
	powerRuns   = 1
	powerDeeper = 0
	troubleStep = 7
)
