//go:build race

package storetest

// The race detector makes each conversation and event ten times slower, and finds the same in fewer.

func crowdOfDebates() int { return 300 }

func longLog() int { return 900 } // events

func randomSteps() int { return 50 }
