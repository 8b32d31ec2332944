//go:build race

package storetest

// The race detector makes each debate and event ten times slower, and finds the same in fewer.
const (
	crowdOfDebates = 300
	longLog        = 900 // events
)
