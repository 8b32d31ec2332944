//go:build !race

package river_test

const fewer = 1
