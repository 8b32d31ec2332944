package tool_test

import "github.com/agonist-dev/debate/internal/longform"

var manyLines = longform.Or(6000, 400) // of 2 KiB

var manyWrites = longform.Or(300, 20)

var manyKills = longform.Or(40, 3)

var manyReads = longform.Or(8000, 1000)
