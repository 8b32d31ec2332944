package vote

import "slices"

// Round is one count of an instant run-off.
type Round struct {
	Tally      []Count  `json:"tally"`                // the candidates that still stand, as in Result
	Exhausted  int      `json:"exhausted,omitempty"`  // ballots cast that name none of them any more
	Eliminated []string `json:"eliminated,omitempty"` // who leaves after this count, by name
}

// InstantRunoff elects by rankings, the best candidate first, in rounds. Each ballot counts for the
// first on it that still stands. Who has more than half of the ballots that are not exhausted wins;
// otherwise the last is eliminated, and the next round counts again. If several are last, all of them
// leave at once, because to choose one of them would be to break a tie. If they are all that stand, it
// is a tie of them.
//
// Eliminating several at once has its price: one that leads without a majority wins if all others
// share the last place. Rounds shows it. As every run-off, this one can turn against a candidate that
// gains support.
//
// Tally, Leaders and Needed are those of the last round. Rankings may be incomplete. A ballot without
// a name is an abstention. An empty name, or the same name twice on a ballot, is a [*BallotError].
func InstantRunoff(rankings [][]string) (Result, error) {
	votes, cast, err := candidates(rankings)
	if err != nil {
		return Result{}, err
	}
	if cast == 0 {
		return Result{Abstained: len(rankings)}, nil
	}
	left := slices.Clone(rankings) // of each ballot, from the first that still stands
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

// poll counts each ballot for the first on it that stands, that is, has an entry in votes, and yields
// how many ballots have one.
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

// trailing names those with the fewest votes.
func trailing(tally []Count) []string {
	var names []string
	for _, count := range tally {
		if count.Votes == tally[len(tally)-1].Votes {
			names = append(names, count.Name)
		}
	}
	return names
}
