//go:build !race

package openaicompat_test

const listSize = 4 << 20 // bytes of an answer
