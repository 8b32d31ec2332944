//go:build !race

package windowtest

const problems = 5000 // how many a manager is asked to plan
