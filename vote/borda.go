package vote

// Borda elects the candidate with the most points. Each ballot ranks candidates, the best first. On every
// ballot a candidate gets two points for each candidate ranked below it, and one point for each candidate
// level with it. That is twice Borda's count of 1781 (m−1, m−2, …, 0 points among m candidates).
//
// Rankings may be incomplete. Candidates that a ballot leaves out are level with one another and below
// all that it ranks, so they share the remaining points equally. Doubled points stay whole numbers in
// that case too.
//
// The candidates are the names on any ballot. A ballot without a name is an abstention. An empty name, or
// the same name twice on a ballot, is a [*BallotError].
func Borda(rankings [][]string) (Result, error) {
	points, cast, err := candidates(rankings)
	if err != nil {
		return Result{}, err
	}
	shared := 0 // the points of every candidate if no ballot had ranked any
	for _, ranking := range rankings {
		if len(ranking) == 0 {
			continue
		}
		level := len(points) - len(ranking) - 1 // how many candidates are level with one that this ballot leaves out; -1 if it leaves none out
		shared += level
		for place, name := range ranking {
			points[name] += 2*(len(points)-1-place) - level
		}
	}
	for name := range points {
		points[name] += shared
	}
	return resultOf(points, cast, len(rankings)-cast, 0), nil
}
