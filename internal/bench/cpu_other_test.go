//go:build !unix

package bench_test

import "time"

// cpuTime is not known here: the ratios of processor time are left out.
func cpuTime() time.Duration { return 0 }
