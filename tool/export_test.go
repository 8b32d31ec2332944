package tool

// LookAt bounds the entries of folders that one use looks at.
func (d *Dir) LookAt(most int) { d.maxSeen = most }
