package tool

import "time"

// LookAt bounds the entries of folders that one use looks at.
func (d *Dir) LookAt(most int) { d.maxSeen = most }

// Within bounds the time of a search, and that for which another process may keep a folder locked.
func (d *Dir) Within(most time.Duration) { d.maxTime, d.maxLock = most, most }

// Grace is how long a command has to end after it was asked to, Linger how long the output of what has ended is waited for.
const (
	Grace  = grace
	Linger = linger
)

// Clock sets what the times of a command are measured with. It is in place of time.After.
func (c Commands) Clock(after func(time.Duration) <-chan time.Time) Commands {
	c.after = after
	return c
}

// Kept returns what is kept of what a program prints in pieces.
func Kept(half int, pieces []string) string {
	o := output{half: half}
	for _, piece := range pieces {
		_, _ = o.Write([]byte(piece))
	}
	return o.String()
}
