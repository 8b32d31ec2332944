package vote

import (
	"fmt"
	"maps"
	"slices"
)

// MaxBudget is the largest budget of points per ballot in [Cumulative]. It keeps sums far from overflow.
const MaxBudget = 10_000

// Cumulative elects the candidate with the most points. Every ballot distributes up to budget points, in
// whole numbers, among any candidates; points that it keeps back are lost. The budget is 1 to
// [MaxBudget]. Zero points count as no entry. A ballot that gives no points is an abstention.
//
// A ballot is a [*BallotError] if it gives points to an empty name, a negative number of points, or more
// than budget. A budget out of range is an error of another type.
func Cumulative(points []map[string]int, budget int) (Result, error) {
	if budget < 1 || budget > MaxBudget {
		return Result{}, fmt.Errorf("the budget is %d points: it must be 1 to %d", budget, MaxBudget)
	}
	total, cast := map[string]int{}, 0
	for i, ballot := range points {
		left := budget
		for _, name := range slices.Sorted(maps.Keys(ballot)) { // sorted, so that the same one of several faults is reported each time
			given := ballot[name]
			switch {
			case given == 0:
				continue
			case name == "":
				return Result{}, &BallotError{Ballot: i, Reason: "gives points to an empty name"}
			case given < 0:
				return Result{}, &BallotError{Ballot: i, Reason: fmt.Sprintf("gives %.40q %d points", name, given)}
			case given > left:
				return Result{}, &BallotError{Ballot: i, Reason: fmt.Sprintf("gives more than %d points", budget)}
			}
			left -= given
			total[name] += given
		}
		if left < budget {
			cast++
		}
	}
	return resultOf(total, cast, len(points)-cast, 0), nil
}
