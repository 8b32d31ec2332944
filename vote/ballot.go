package vote

import "fmt"

// BallotError says that a ballot is broken, so that its voter can be asked again. Its text quotes at
// most 40 characters of a name, escaped.
type BallotError struct {
	Ballot int    // the index of the first broken ballot
	Reason string // what is wrong, such as: names "Ada" twice
}

// Error implements error.
func (e *BallotError) Error() string {
	return fmt.Sprintf("ballot %d (the first is 0) %s", e.Ballot, e.Reason)
}

// candidates collects the names on the ballots and counts the ballots that have one. A ballot that
// names nobody in an entry, or somebody twice, is broken.
func candidates(ballots [][]string) (votes map[string]int, cast int, err error) {
	votes = map[string]int{}
	seen := map[string]int{} // the last ballot that names a candidate, the first being 1
	for i, ballot := range ballots {
		for _, name := range ballot {
			if name == "" {
				return nil, 0, &BallotError{Ballot: i, Reason: "has an entry without a name"}
			}
			if seen[name] == i+1 {
				return nil, 0, &BallotError{Ballot: i, Reason: fmt.Sprintf("names %.40q twice", name)}
			}
			seen[name] = i + 1
			votes[name] = 0
		}
		if len(ballot) > 0 {
			cast++
		}
	}
	return votes, cast, nil
}
