//go:build !race

package storetest

const (
	crowdOfDebates = 1000
	longLog        = 3000 // events
)
