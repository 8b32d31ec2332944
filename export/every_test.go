//go:build !race

package export_test

const every = 1 // each of the texts is tried
