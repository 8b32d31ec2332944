//go:build !unix

package river_test

import "time"

// processor is not known here.
func processor() time.Duration { return 0 }
