package vote

import (
	"fmt"
	"math"
)

// FullConfidence is what a vote with the confidence 1 counts in [Weighted].
const FullConfidence = 10_000

// Choice is a vote and how sure its voter is of it, from 0 to 1. The empty choice is an abstention.
type Choice struct {
	For        string  `json:"for"`
	Confidence float64 `json:"confidence"`
}

// Weighted elects who has the most confidence behind it. Each confidence is rounded to a ten-thousandth
// and counted in that unit ([FullConfidence] is a whole vote), because sums of floating-point numbers
// hang on their order, and a tie of 0.1 and 0.2 with 0.3 would not be seen. A choice that rounds to no
// confidence is an abstention.
//
// A confidence that is not from 0 to 1 is a [*BallotError], an abstention's too.
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
