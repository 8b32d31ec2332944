package vote

// Borda elects who has the most points from rankings, the best candidate first. On every ballot a
// candidate gets two points for each one that it stands above, and one for each one that it is level
// with. That is twice Borda's count of 1781 (m−1, m−2, …, 0 points among m candidates), which keeps
// the points whole when a ranking is incomplete: the candidates that it leaves out are level with one
// another, below all that it has, and so share what is left equally.
//
// The candidates are the names on any ballot. A ballot without a name is an abstention. An empty name,
// or the same name twice on a ballot, is a [*BallotError].
func Borda(rankings [][]string) (Result, error) {
	points, cast, err := candidates(rankings)
	if err != nil {
		return Result{}, err
	}
	shared := 0 // what everybody would have if no ballot had ranked them
	for _, ranking := range rankings {
		if len(ranking) == 0 {
			continue
		}
		level := len(points) - len(ranking) - 1 // those beside one that is left out; -1 if nobody is
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
