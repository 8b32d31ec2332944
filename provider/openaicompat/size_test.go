//go:build !race

package openaicompat_test

import "github.com/agonist-dev/debate/internal/longform"

var listSize = longform.Or(4<<20, 1<<20) // bytes of an answer
