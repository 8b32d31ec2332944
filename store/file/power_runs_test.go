//go:build !race

package file_test

// How much TestPowerLoss and TestTroubleAndPowerLoss do.
const (
	powerRuns   = 3
	powerDeeper = 30
	troubleStep = 1
)
