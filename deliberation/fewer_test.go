//go:build !race

package deliberation_test

const fewer = 1 // divides the numbers of runs
