//go:build !race

package tool_test

import "github.com/agonist-dev/debate/internal/longform"

var manyLines = longform.Or(6000, 1000) // of 2 KiB

var manyWrites = longform.Or(300, 60)

var manyKills = longform.Or(40, 8)
