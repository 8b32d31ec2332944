package cassette

import (
	"cmp"
	"strings"
)

// compareEntries compares by the order of the file: by the ids of the requests; equal requests by when
// they began. When they ended does not matter.
func compareEntries(a, b *entry) int {
	return cmp.Or(
		compareIDs(a.ID, b.ID), strings.Compare(a.key, b.key), cmp.Compare(a.began, b.began),
	)
}

// compareIDs compares the part before the first slash, a debate's id, as text. In the rest, it compares
// numbers by value: round 10 comes after round 9.
func compareIDs(a, b string) int {
	debateA, callA, _ := strings.Cut(a, "/")
	debateB, callB, _ := strings.Cut(b, "/")
	return cmp.Or(strings.Compare(debateA, debateB), compareNumbered(callA, callB), strings.Compare(a, b))
}

func compareNumbered(a, b string) int {
	for a != "" && b != "" {
		digitsA, digitsB := leadingDigits(a), leadingDigits(b)
		if digitsA == 0 || digitsB == 0 {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		x, y := strings.TrimLeft(a[:digitsA], "0"), strings.TrimLeft(b[:digitsB], "0")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); c != 0 {
			return c
		}
		a, b = a[digitsA:], b[digitsB:]
	}
	return cmp.Compare(len(a), len(b))
}

func leadingDigits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
