package vote

import "slices"

// Round is one count of an instant run-off.
type Round struct {
	Tally      []Count  `json:"tally"`                // the candidates that remain, in the order of Result.Tally
	Exhausted  int      `json:"exhausted,omitempty"`  // ballots cast on which no candidate remains
	Eliminated []string `json:"eliminated,omitempty"` // the candidates who leave after this count, sorted by name
}

// InstantRunoff elects by rankings, each with the best candidate first, in rounds. A round has these
// steps:
//
//  1. Each ballot counts for the first candidate on it that remains. A ballot without one is exhausted.
//  2. If a candidate has more than half of the ballots that are not exhausted, it wins.
//  3. If all remaining candidates have equally many votes, the result is a tie of them.
//  4. Otherwise the candidate with the fewest votes is eliminated. If several have the fewest, all of
//     them are eliminated, because a choice among them would break a tie.
//
// Eliminating several candidates at once has a price: if all candidates but the leader share the last
// place, the leader wins without a majority. Rounds shows it. As in every instant run-off, a candidate
// can lose by gaining support.
//
// Tally, Leaders and Needed are those of the last round. Rankings may be incomplete. A ballot without a
// name is an abstention. An empty name, or the same name twice on a ballot, is a [*BallotError].
func InstantRunoff(rankings [][]string) (Result, error) {
	votes, cast, err := candidates(rankings)
	if err != nil {
		return Result{}, err
	}
	if cast == 0 {
		return Result{Abstained: len(rankings)}, nil
	}
	left := slices.Clone(rankings) // what is left of each ballot: the part from the first candidate that remains
	var rounds []Round
	for {
		active := poll(left, votes)
		result := resultOf(votes, cast, len(rankings)-cast, active/2+1)
		last := trailing(result.Tally)
		round := Round{Tally: slices.Clone(result.Tally), Exhausted: cast - active}
		done := result.Winner != "" || len(last) == len(result.Tally)
		if !done {
			round.Eliminated = last
		}
		rounds = append(rounds, round)
		if done {
			result.Rounds = rounds
			return result, nil
		}
		for _, name := range last {
			delete(votes, name)
		}
	}
}

// poll counts each ballot for the first candidate on it that remains. A candidate remains if votes has an
// entry for it. poll returns how many ballots name such a candidate.
func poll(left [][]string, votes map[string]int) (active int) {
	for name := range votes {
		votes[name] = 0
	}
	for i, ballot := range left {
		for len(ballot) > 0 {
			if _, stands := votes[ballot[0]]; stands {
				votes[ballot[0]]++
				active++
				break
			}
			ballot = ballot[1:]
		}
		left[i] = ballot
	}
	return active
}

// trailing returns the names with the fewest votes.
func trailing(tally []Count) []string {
	var names []string
	for _, count := range tally {
		if count.Votes == tally[len(tally)-1].Votes {
			names = append(names, count.Name)
		}
	}
	return names
}
