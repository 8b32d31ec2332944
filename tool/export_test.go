package tool

import "time"

// LookAt bounds the entries of folders that one use looks at.
func (d *Dir) LookAt(most int) { d.maxSeen = most }

// Hurry sets the time that a command has to end after it was asked to.
func (c Commands) Hurry(grace time.Duration) Commands {
	c.grace = grace
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
