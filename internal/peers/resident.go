package main

import (
	"os"
	"strconv"
	"strings"
)

// residentMemory is what this process has in memory, and the most that it ever had, in bytes; 0 where the
// system is not Linux.
//
// The peak is not taken from getrusage(2): there a new process inherits the peak of its parent.
func residentMemory() (now, peak int64) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch {
		case err != nil:
		case name == "VmRSS":
			now = kilobytes * 1024
		case name == "VmHWM":
			peak = kilobytes * 1024
		}
	}
	return now, peak
}
