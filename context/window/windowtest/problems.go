//go:build !race

package windowtest

const (
	problems    = 5000 // how many a manager is asked to plan
	transcripts = 200  // how many grow message by message
)
