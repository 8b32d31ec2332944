//go:build race

package longform

// Race reports whether the race detector runs. A test under it takes several times as long.
const Race = true
