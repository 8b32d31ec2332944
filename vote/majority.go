package vote

import (
	"fmt"
	"math/bits"
)

// Plurality elects who has the most votes, however few they are. The empty choice is an abstention.
func Plurality(choices []string) Result {
	return elect(choices, func(int) int { return 0 })
}

// Majority elects who has more than half of the votes cast. The empty choice is an abstention and not
// a vote: with two votes for A, one for B and two abstentions, A has two of three votes and wins. Who
// asks for more than half of all members compares the votes of the first in Tally with Cast and
// Abstained together.
func Majority(choices []string) Result {
	return elect(choices, func(cast int) int { return cast/2 + 1 })
}

// Supermajority elects who has at least num/den of the votes cast, such as 2/3: with four votes that
// is three. The empty choice is an abstention and not a vote. The fraction must be more than a half,
// so that only one candidate can have it, and at most the whole; another one is an error.
func Supermajority(choices []string, num, den int) (Result, error) {
	if num <= 0 || num > den || num <= den-num {
		return Result{}, fmt.Errorf("a supermajority is more than 1/2 and at most 1, not %d/%d", num, den)
	}
	return elect(choices, func(cast int) int { return share(cast, num, den) }), nil
}

// Unanimity elects who has every vote cast, which must be one at least. The empty choice is an
// abstention and not a vote.
func Unanimity(choices []string) Result {
	return elect(choices, func(cast int) int { return cast })
}

// elect counts one choice per ballot.
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

// share is cast·num/den, rounded up. The product takes 128 bits; the quotient fits, because the
// fraction is at most 1.
func share(cast, num, den int) int {
	high, low := bits.Mul64(uint64(cast), uint64(num))   //nolint:gosec // neither is negative
	quotient, rest := bits.Div64(high, low, uint64(den)) //nolint:gosec // nor is this
	if rest > 0 {
		quotient++
	}
	return int(quotient) //nolint:gosec // at most cast
}
