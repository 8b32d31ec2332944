//go:build !race

package windowtest

const problems = 5000 // that a manager is given
