package vote_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/vote"
)

// Borda's points are two for each candidate below and one for each beside: counted here pair by pair.
func TestBordaByPairs(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range elections {
		ballots := rankings(draw(random))
		want := map[string]int{}
		for _, ranking := range ballots {
			for _, name := range ranking {
				want[name] = 0
			}
		}
		for _, ranking := range ballots {
			if len(ranking) == 0 {
				continue
			}
			for a := range want {
				for b := range want {
					if a != b {
						want[a] += 1 + prefers(ranking, a, b)
					}
				}
			}
		}
		result, err := vote.Borda(ballots)
		require.NoError(t, err)
		require.Equal(t, want, tally(result, nil))
	}
}

// prefers is 1 if a ranking has a before b, or only a; -1 if it is the other way round; 0 if it has neither.
func prefers(ranking []string, a, b string) int {
	place := func(name string) int {
		if i := slices.Index(ranking, name); i >= 0 {
			return i
		}
		return len(ranking)
	}
	switch i, j := place(a), place(b); {
	case i < j:
		return 1
	case i > j:
		return -1
	}
	return 0
}

// Among complete rankings, Borda never elects who loses against every other one, and never puts who
// wins against every other one last.
func TestBordaAndCondorcet(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	found := 0
	for range elections {
		standing := names[:2+random.IntN(len(names)-1)]
		var ballots [][]string
		for range 1 + random.IntN(9) {
			var ranking []string
			for _, n := range random.Perm(len(standing)) {
				ranking = append(ranking, standing[n])
			}
			ballots = append(ballots, ranking)
		}
		result, err := vote.Borda(ballots)
		require.NoError(t, err)
		winner, loser := condorcet(ballots, standing)
		if loser != "" {
			require.NotContains(t, result.Leaders, loser)
			found++
		}
		if winner != "" {
			require.Greater(t, tally(result, nil)[winner], result.Tally[len(result.Tally)-1].Votes)
			found++
		}
	}
	require.Greater(t, found, elections)
}

// condorcet finds who wins, and who loses, against every other one.
func condorcet(ballots [][]string, standing []string) (winner, loser string) {
	for _, a := range standing {
		wins, losses := 0, 0
		for _, b := range standing {
			balance := 0
			for _, ranking := range ballots {
				balance += prefers(ranking, a, b)
			}
			switch {
			case balance > 0:
				wins++
			case balance < 0:
				losses++
			}
		}
		if wins == len(standing)-1 {
			winner = a
		}
		if losses == len(standing)-1 {
			loser = a
		}
	}
	return winner, loser
}

func TestRunoffRounds(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	ties, long, compared := 0, 0, 0
	for range elections {
		ballots := rankings(draw(random))
		r, err := vote.InstantRunoff(ballots)
		require.NoError(t, err)
		if r.Cast == 0 {
			require.Empty(t, r.Rounds)
			continue
		}
		for i, round := range r.Rounds {
			standing := make([]string, 0, len(round.Tally))
			fewest := round.Tally[len(round.Tally)-1].Votes
			for _, c := range round.Tally {
				standing = append(standing, c.Name)
				require.Equal(t, first(ballots, round.Tally)[c.Name], c.Votes)
				if i < len(r.Rounds)-1 {
					require.LessOrEqual(t, 2*c.Votes, r.Cast-round.Exhausted, "nobody has a majority before the last round")
					require.Equal(t, c.Votes == fewest, slices.Contains(round.Eliminated, c.Name), "exactly the last ones leave")
				}
			}
			if i > 0 {
				before := r.Rounds[i-1]
				require.ElementsMatch(t, tallied(before.Tally), append(standing, before.Eliminated...))
				require.GreaterOrEqual(t, round.Exhausted, before.Exhausted)
			}
		}
		last := r.Rounds[len(r.Rounds)-1]
		require.Empty(t, last.Eliminated)
		require.Equal(t, last.Tally, r.Tally)
		if r.Winner != "" {
			require.Greater(t, 2*r.Tally[0].Votes, r.Cast-last.Exhausted, "the winner has a majority of what is left")
			require.Equal(t, (r.Cast-last.Exhausted)/2+1, r.Needed)
			if len(r.Tally) > 1 {
				compared++
				_, loser := condorcet(ballots, tallied(r.Rounds[0].Tally))
				require.NotEqual(t, loser, r.Winner, "who is left with a rival has beaten one")
			}
		} else {
			ties++
			require.Equal(t, tallied(r.Tally), r.Leaders, "a tie is among all that stand")
		}
		if len(r.Rounds) > 2 {
			long++
		}
	}
	require.Greater(t, ties, 50)
	require.Greater(t, long, 50)
	require.Greater(t, compared, 50)
}

// first counts every ballot for the first on it that stands.
func first(ballots [][]string, standing []vote.Count) map[string]int {
	votes := map[string]int{}
	for _, ranking := range ballots {
		for _, name := range ranking {
			if slices.Contains(tallied(standing), name) {
				votes[name]++
				break
			}
		}
	}
	return votes
}

func tallied(tally []vote.Count) []string {
	var out []string
	for _, c := range tally {
		out = append(out, c.Name)
	}
	return out
}
