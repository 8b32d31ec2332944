//go:build race

package wire_test

const every = 7 // the race detector makes each place ten times as slow, and has nothing to look for
