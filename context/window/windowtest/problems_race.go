//go:build race

package windowtest

// The race detector makes each ten times slower, and looks for something else.
const (
	problems    = 500
	transcripts = 50
)
