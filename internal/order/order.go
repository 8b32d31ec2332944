// Package order walks through maps in the order of their keys.
package order

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// ByKey yields a map's entries by their keys, so that nothing hangs on the order of a map.
func ByKey[K cmp.Ordered, V any](m map[K]V) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
