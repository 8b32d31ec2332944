// Package long knows whether the tests run in their long form.
package long

import "os"

// variable asks for the long form if it has a value.
const variable = "DEBATE_LONG_TESTS"

// Tests reports whether the tests run in their long form: with all seeds, sizes and places where they fail a
// process. The short form tries a part of them, and asserts the same of each.
func Tests() bool { return os.Getenv(variable) != "" }

// Or returns n in the long form, and less in the short one.
func Or[T any](n, less T) T {
	if Tests() {
		return n
	}
	return less
}
