// Package vote counts votes: pure functions from ballots to a [Result], for a panel of judges, an
// audience, or the participants of a deliberation.
//
//   - One choice each: [Plurality], [Majority], [Supermajority], [Unanimity].
//   - Several choices: [Approval], and [Cumulative] with points to share out.
//   - Rankings: [Borda] and [InstantRunoff].
//   - A choice with a confidence: [Weighted].
//
// All of them keep these rules:
//
//   - Candidates are names, compared byte for byte. A candidate stands if a ballot names it; who admits
//     only certain names checks them before counting.
//   - A ballot without a name is an abstention. It counts in Abstained alone, never in what is needed
//     to win.
//   - A tie has no winner. It is never broken by the order of ballots or names, nor by lot.
//   - The order of the ballots does not matter, and a renamed candidate fares the same.
//   - Counting is exact: whole numbers, no rounding but the one that Weighted tells of.
//   - A broken ballot is a [*BallotError] and nothing is counted: no ballot is repaired or left out
//     in silence.
//
// A quorum is the caller's to compare with Result.Cast. Functions do not change or keep what they are
// given, and are safe for concurrent use.
package vote

import (
	"cmp"
	"maps"
	"slices"
)

// Result is what a count found. It belongs to the caller.
type Result struct {
	// Winner is the candidate that won, or empty if nobody did: on a tie, if nobody has the votes that
	// are needed, or if nobody voted.
	Winner string `json:"winner,omitempty"`

	// Leaders are the candidates with the most votes, by name, whether or not that is enough to win.
	// None if nobody voted.
	Leaders []string `json:"leaders,omitempty"`

	// Tally has every candidate, the most votes first, equal ones by name.
	Tally []Count `json:"tally,omitempty"`

	// Cast is the number of ballots that count, Abstained that of the others.
	Cast      int `json:"cast"`
	Abstained int `json:"abstained,omitempty"`

	// Needed is how many votes it takes to win: 0 where having the most is enough.
	Needed int `json:"needed,omitempty"`

	// Rounds tells how an instant run-off went; the other protocols have none.
	Rounds []Round `json:"rounds,omitempty"`
}

// Count is what one candidate got, in the protocol's unit: votes, or the points that Borda, Cumulative
// and Weighted tell of.
type Count struct {
	Name  string `json:"name"`
	Votes int    `json:"votes"`
}

// Tie reports whether several candidates share the most votes.
func (r Result) Tie() bool { return len(r.Leaders) > 1 }

// resultOf ranks the candidates. One that leads alone wins if it has the votes needed.
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
