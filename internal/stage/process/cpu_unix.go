//go:build unix

package process

import (
	"syscall"
	"time"
)

// CPU returns what this process has used of the processors, the runtime's own work included; 0: it cannot be known here.
func CPU() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
