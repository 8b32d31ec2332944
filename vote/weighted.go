package vote

import (
	"fmt"
	"math"
)

// FullConfidence is the weight, in [Weighted], of a vote with the confidence 1.
const FullConfidence = 10_000

// Choice is a vote together with the voter's confidence in it, from 0 to 1. An empty choice is an
// abstention.
type Choice struct {
	For        string  `json:"for"`
	Confidence float64 `json:"confidence"`
}

// Weighted elects the candidate with the most confidence behind it. Each confidence is rounded to a
// ten-thousandth and counted in that unit, so a whole vote counts [FullConfidence]. Sums of
// floating-point numbers would depend on their order, and a tie of 0.1 and 0.2 with 0.3 would go
// unnoticed. A choice whose confidence rounds to zero is an abstention.
//
// A confidence that is not from 0 to 1 is a [*BallotError], on an abstention too.
func Weighted(choices []Choice) (Result, error) {
	weight, cast := map[string]int{}, 0
	for i, choice := range choices {
		if !(choice.Confidence >= 0 && choice.Confidence <= 1) { // NaN is neither
			return Result{}, &BallotError{Ballot: i, Reason: fmt.Sprintf("has the confidence %v, not 0 to 1", choice.Confidence)}
		}
		if w := int(math.Round(choice.Confidence * FullConfidence)); w > 0 && choice.For != "" {
			weight[choice.For] += w
			cast++
		}
	}
	return resultOf(weight, cast, len(choices)-cast, 0), nil
}
