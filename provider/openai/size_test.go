//go:build !race

package openai_test

import "github.com/agonist-dev/debate/internal/longform"

var listSize = longform.Or(4<<20, 1<<20) // bytes of an answer
