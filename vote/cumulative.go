package vote

import (
	"fmt"
	"maps"
	"slices"
)

// MaxBudget is the largest number of points that a ballot of [Cumulative] may have. It keeps sums far
// from overflow.
const MaxBudget = 10_000

// Cumulative elects who has the most points. Every ballot shares out up to budget of them, 1 to
// [MaxBudget], among any candidates; points that it does not give are lost. No points is the same as
// no entry, and a ballot that gives none is an abstention.
//
// Points for an empty name, a negative number of them, or more than the budget on a ballot is a
// [*BallotError]; another budget is an error of its own.
func Cumulative(points []map[string]int, budget int) (Result, error) {
	if budget < 1 || budget > MaxBudget {
		return Result{}, fmt.Errorf("a budget is 1 to %d points, not %d", MaxBudget, budget)
	}
	total, cast := map[string]int{}, 0
	for i, ballot := range points {
		left := budget
		for _, name := range slices.Sorted(maps.Keys(ballot)) { // so that of several faults always the same is told
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
