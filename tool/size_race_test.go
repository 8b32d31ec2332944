//go:build race

package tool_test

const manyLines = 200 // of 2 KiB; the race detector makes each ten times as slow

const manyWrites = 20

const manyKills = 3
