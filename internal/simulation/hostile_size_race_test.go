//go:build race

package simulation_test

const hostileSeeds = 1_000 // the race detector looks for something else
