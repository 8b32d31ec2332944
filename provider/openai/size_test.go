//go:build !race

package openai_test

const listSize = 4 << 20 // bytes of an answer
