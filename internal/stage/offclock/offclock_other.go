//go:build !linux || !amd64

package offclock

import (
	"errors"
	"time"
)

// Set is possible only on Linux with amd64.
func Set(time.Duration) error { return errors.New("only on Linux with amd64") }
