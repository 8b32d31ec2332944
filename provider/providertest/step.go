//go:build !race

package providertest

const cutStep = 1 // answers are cut at each byte
