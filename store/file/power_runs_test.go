package file_test

import "github.com/agonist-dev/debate/internal/longform"

// How much TestPowerLoss and TestTroubleAndPowerLoss do.
var (
	powerRuns   = longform.Or[uint64](3, 1)
	powerDeeper = longform.Or(30, 0)
	troubleStep = longform.Or(1, 7)
)
