package stage

import "time"

// Pass lets the time of a synctest bubble go by.
func Pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // in a bubble nobody waits
}
