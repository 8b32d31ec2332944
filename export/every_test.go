//go:build !race

package export_test

import "github.com/agonist-dev/debate/internal/longform"

var every = longform.Or(1, 4) // in the long form each of the texts is tried
