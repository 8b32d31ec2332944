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

// Lone skips a test under the race detector in which no goroutines share anything: one computes, or another process does. What they
// share may also be only what another test has them share. There is nothing to find then, and it takes many times as long. The checks
// run the test without the detector.
func Lone(t testing.TB) {
	t.Helper()
	if Race {
		t.Skip("left to the run without the race detector, which finds nothing in it")
	}
}

// Or returns n in the long form, and less in the short one.
func Or[T any](n, less T) T {
	if Asked() {
		return n
	}
	return less
}

// Sized returns n in the long form and less in the short one, but raced under the race detector, in either form: it makes all
// of it several times as slow, and finds the same in fewer.
func Sized[T any](n, less, raced T) T {
	if Race {
		return raced
	}
	return Or(n, less)
}

// Fewer returns what numbers of seeds are divided by: 1 in the long form, else 8.
func Fewer() int { return Sized(1, 8, 8) }
