//go:build race

package windowtest

const problems = 500 // the race detector makes each ten times slower, and looks for something else
