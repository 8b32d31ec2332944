// Package longform knows whether the tests run in their long form.
package longform

import (
	"os"
	"testing"
)

// variable asks for the long form if it has a value.
const variable = "DEBATE_LONG_TESTS"

// Asked reports whether the tests run in their long form: with all seeds, sizes and places of theirs. The short form
// tries a part of them, and asserts the same of each.
func Asked() bool { return os.Getenv(variable) != "" }

// Only skips a test in the short form, and says what the short form keeps of it.
func Only(t testing.TB, kept string) {
	t.Helper()
	if !Asked() {
		t.Skip("in the long form only; the short form keeps: " + kept)
	}
}

// Or returns n in the long form, and less in the short one.
func Or[T any](n, less T) T {
	if Asked() {
		return n
	}
	return less
}

// Fewer returns what numbers of seeds are divided by: 1 in the long form, else 8. Under the race detector it is always 8:
// that has little to look for in a core without goroutines.
func Fewer() int {
	if Race {
		return 8
	}
	return Or(1, 8)
}
