//go:build !race

package wire_test

const every = 1 // each place is tried
