//go:build !race

package deliberation_test

import "github.com/agonist-dev/debate/internal/longform"

var fewer = longform.Or(1, 6) // divides the numbers of runs
