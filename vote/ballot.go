package vote

import "fmt"

// BallotError reports an invalid ballot, so that its voter can be asked again. Its text quotes at most 40
// characters of a name, escaped.
type BallotError struct {
	Ballot int    // the index of the first invalid ballot, from 0
	Reason string // what is invalid, such as: names "Ada" twice
}

// Error implements error.
func (e *BallotError) Error() string {
	return fmt.Sprintf("ballot %d (the first is 0) %s", e.Ballot, e.Reason)
}

// candidates collects the names on the ballots, and counts the ballots that name at least one. A ballot
// is invalid if it has an entry without a name, or the same name twice.
func candidates(ballots [][]string) (votes map[string]int, cast int, err error) {
	votes = map[string]int{}
	seen := map[string]int{} // by candidate: the last ballot that names it, counted from 1
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
