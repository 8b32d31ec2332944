//go:build race

package river_test

const fewer = 4 // with the race detector there is less to measure, and each process is slower
