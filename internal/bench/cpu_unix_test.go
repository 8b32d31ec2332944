//go:build unix

package bench_test

import (
	"syscall"
	"time"
)

// cpuTime is what this process has used of the processors, the runtime's own work included.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
