//go:build race

package export_test

const every = 4 // the race detector makes each text ten times as slow, and has little to look for
