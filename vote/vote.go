// Package vote counts votes: pure functions from ballots to a [Result], for a panel of judges, an
// audience, or the participants of a deliberation.
//
//   - One choice each: [Plurality], [Majority], [Supermajority], [Unanimity].
//   - Several choices: [Approval], and [Cumulative] with points to distribute.
//   - Rankings: [Borda] and [InstantRunoff].
//   - A choice with a confidence: [Weighted].
//
// All functions keep these rules:
//
//   - A candidate is a name, compared byte for byte. Every name on a ballot is a candidate. A caller that
//     admits only certain names checks them before the count.
//   - A ballot without a name is an abstention. It counts in Abstained only, never towards the votes
//     needed to win.
//   - A tie has no winner. It is never broken by the order of ballots, by names or by lot.
//   - The order of the ballots does not matter. A candidate's name does not influence its chances.
//   - Counting is exact, in whole numbers. Only Weighted rounds, as its comment says.
//   - An invalid ballot is a [*BallotError], and nothing is counted. No ballot is repaired or silently
//     skipped.
//
// A quorum is left to the caller: compare it with Result.Cast. The functions do not change or keep their
// arguments. They are safe for concurrent use.
package vote

import (
	"cmp"
	"maps"
	"slices"
)

// Result is the outcome of a count. It belongs to the caller.
type Result struct {
	// Winner is the candidate who won. It is empty on a tie, if no candidate has the votes needed, and if
	// nobody voted.
	Winner string `json:"winner,omitempty"`

	// Leaders are the candidates with the most votes, sorted by name, whether or not these votes are
	// enough to win. It is empty if nobody voted.
	Leaders []string `json:"leaders,omitempty"`

	// Tally has every candidate, sorted by votes in descending order, then by name.
	Tally []Count `json:"tally,omitempty"`

	// Cast is the number of ballots that count. Abstained is the number of the others.
	Cast      int `json:"cast"`
	Abstained int `json:"abstained,omitempty"`

	// Needed is the number of votes that win; 0: the most votes win, however few.
	Needed int `json:"needed,omitempty"`

	// Rounds has each count of an instant run-off. The other protocols leave it empty.
	Rounds []Round `json:"rounds,omitempty"`
}

// Count is the result of one candidate, in the unit of the protocol: votes, or the points of Borda,
// Cumulative and Weighted.
type Count struct {
	Name  string `json:"name"`
	Votes int    `json:"votes"`
}

// Tie reports whether several candidates share the most votes.
func (r Result) Tie() bool { return len(r.Leaders) > 1 }

// resultOf ranks the candidates. A candidate that leads alone wins if it has the votes needed.
func resultOf(votes map[string]int, cast, abstained, needed int) Result {
	result := Result{Cast: cast, Abstained: abstained, Needed: needed}
	for _, name := range slices.Sorted(maps.Keys(votes)) {
		result.Tally = append(result.Tally, Count{Name: name, Votes: votes[name]})
	}
	slices.SortStableFunc(result.Tally, func(a, b Count) int { return cmp.Compare(b.Votes, a.Votes) })
	for _, count := range result.Tally {
		if count.Votes == result.Tally[0].Votes {
			result.Leaders = append(result.Leaders, count.Name)
		}
	}
	if len(result.Leaders) == 1 && result.Tally[0].Votes >= needed {
		result.Winner = result.Leaders[0]
	}
	return result
}
