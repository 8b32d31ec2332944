//go:build race

package openai_test

const listSize = 1 << 20 // the race detector makes each byte ten times as slow
