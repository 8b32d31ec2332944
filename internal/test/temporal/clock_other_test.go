//go:build !linux || !amd64

package temporal_test

import (
	"errors"
	"time"
)

func setClockOff(time.Duration) error { return errors.New("only on Linux with amd64") }
