//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime is what this process has used of the processors, the collector included.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
