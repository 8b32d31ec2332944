//go:build !race

package tool_test

const manyLines = 6000 // of 2 KiB
