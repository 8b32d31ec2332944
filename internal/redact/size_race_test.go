//go:build race

package redact_test

const every = 7 // of the places is looked at

const hostileSize = 1 << 13 // bytes: the race detector makes each some hundred times as slow, and has nothing to look for
