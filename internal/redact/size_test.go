//go:build !race

package redact_test

const every = 1 // of the places is looked at

const hostileSize = 1 << 17 // bytes
