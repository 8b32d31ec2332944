//go:build race

package providertest

const cutStep = 13 // the race detector makes each cut ten times slower, and looks for something else
