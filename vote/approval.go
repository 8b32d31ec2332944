package vote

// Approval elects the candidate that the most ballots approve of. A ballot lists every candidate that it
// approves of, in any order. An empty ballot is an abstention. An empty name, or the same name twice on a
// ballot, is a [*BallotError].
func Approval(approved [][]string) (Result, error) {
	votes, cast, err := candidates(approved)
	if err != nil {
		return Result{}, err
	}
	for _, ballot := range approved {
		for _, name := range ballot {
			votes[name]++
		}
	}
	return resultOf(votes, cast, len(approved)-cast, 0), nil
}
