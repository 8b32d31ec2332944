//go:build !race

package simulation_test

const hostileSeeds = 5_000
