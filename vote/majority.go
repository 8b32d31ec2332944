package vote

import (
	"fmt"
	"math/bits"
)

// Plurality elects the candidate with the most votes, however few they are. An empty choice is an
// abstention.
func Plurality(choices []string) Result {
	return elect(choices, func(int) int { return 0 })
}

// Majority elects the candidate with more than half of the votes cast. An empty choice is an abstention
// and not a vote. With two votes for A, one for B and two abstentions, A has two of three votes and wins.
//
// For a majority of all members, the caller compares the votes of the first in Tally with half the sum of
// Cast and Abstained.
func Majority(choices []string) Result {
	return elect(choices, func(cast int) int { return cast/2 + 1 })
}

// Supermajority elects the candidate with at least num/den of the votes cast. With 2/3 and four votes,
// that is three votes. An empty choice is an abstention and not a vote. The fraction must be more than
// 1/2, so that only one candidate can reach it, and at most 1. Any other fraction is an error.
func Supermajority(choices []string, num, den int) (Result, error) {
	if num <= 0 || num > den || num <= den-num {
		return Result{}, fmt.Errorf("the fraction is %d/%d: a supermajority is more than 1/2 and at most 1", num, den)
	}
	return elect(choices, func(cast int) int { return share(cast, num, den) }), nil
}

// Unanimity elects the candidate who has every vote cast. There must be at least one vote. An empty
// choice is an abstention and not a vote.
func Unanimity(choices []string) Result {
	return elect(choices, func(cast int) int { return cast })
}

// elect counts one choice per ballot. needed returns how many votes win, given the votes cast.
func elect(choices []string, needed func(cast int) int) Result {
	votes, cast := map[string]int{}, 0
	for _, name := range choices {
		if name != "" {
			votes[name]++
			cast++
		}
	}
	return resultOf(votes, cast, len(choices)-cast, needed(cast))
}

// share returns cast·num/den, rounded up. The product takes 128 bits. The quotient fits into 64, because
// the fraction is at most 1.
func share(cast, num, den int) int {
	high, low := bits.Mul64(uint64(cast), uint64(num))   //nolint:gosec // neither is negative
	quotient, rest := bits.Div64(high, low, uint64(den)) //nolint:gosec // nor is this
	if rest > 0 {
		quotient++
	}
	return int(quotient) //nolint:gosec // at most cast
}
