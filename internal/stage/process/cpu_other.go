//go:build !unix

package process

import "time"

// CPU is not known here.
func CPU() time.Duration { return 0 }
