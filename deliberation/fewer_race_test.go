//go:build race

package deliberation_test

const fewer = 6 // the race detector makes each run ten times as slow, and has little to look for in a flow
