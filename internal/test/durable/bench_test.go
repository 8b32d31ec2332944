package durable_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkW1c plays workload W1, one debate after the other, with a provider that answers at once. What is
// left is the engine and the disk: each step is on the disk before the next begins. For the figures see race.
func BenchmarkW1c(b *testing.B) {
	for _, kind := range kinds() {
		for _, rounds := range []int{10, 100, 500} {
			b.Run(fmt.Sprintf("%s/R=%d", kind, rounds), func(b *testing.B) {
				engine := engineOn(opened(b, newPlace(b, kind)), &speaker{})
				floor, keeper := newFloor(b, &speaker{}), newKeeper(b, kind, false)
				block := max(1, 50/rounds) // so that a lap takes some time
				race(b, block, block*steps(rounds), func(lap int) {
					for n := range block {
						keep, end, err := keeper.keep(fmt.Sprintf("w1c-%d-%d", lap, n))
						require.NoError(b, err)
						require.NoError(b, floor.play(b.Context(), rounds, keep))
						require.NoError(b, end())
					}
				}, func(lap int) {
					for n := range block {
						conclude(b, engine, fmt.Sprintf("w1c-%d-%d", lap, n), rounds)
					}
				})
			})
		}
	}
}
