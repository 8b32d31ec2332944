//go:build race

package windowtest

const problems = 500 // the race detector makes each ten times as slow, and looks for something else
