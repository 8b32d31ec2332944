package vote_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/vote"
)

const elections = 1000

var names = []string{"Ada", "Ben", "Cy", "Dee", "Eve"}

// ballot is one voter's opinion in a form from which each protocol takes its own.
type ballot struct {
	ranking    []string
	points     map[string]int
	confidence float64
}

const budget = 6

func draw(random *rand.Rand) []ballot {
	standing := names[:1+random.IntN(len(names))]
	ballots := make([]ballot, random.IntN(12))
	for i := range ballots {
		b := ballot{points: map[string]int{}, confidence: float64(random.IntN(11)) / 10}
		for _, n := range random.Perm(len(standing))[:random.IntN(len(standing)+1)] {
			b.ranking = append(b.ranking, standing[n])
		}
		for range random.IntN(budget + 1) {
			b.points[standing[random.IntN(len(standing))]]++
		}
		ballots[i] = b
	}
	return ballots
}

func rankings(ballots []ballot) [][]string {
	out := make([][]string, len(ballots))
	for i, b := range ballots {
		out[i] = b.ranking
	}
	return out
}

func choices(ballots []ballot) []string {
	out := make([]string, len(ballots))
	for i, b := range ballots {
		if len(b.ranking) > 0 {
			out[i] = b.ranking[0]
		}
	}
	return out
}

// protocols are all of them, as functions of the same ballots.
func protocols(t *testing.T) map[string]func([]ballot) vote.Result {
	t.Helper()
	must := func(result vote.Result, err error) vote.Result {
		require.NoError(t, err)
		return result
	}
	return map[string]func([]ballot) vote.Result{
		"plurality":     func(b []ballot) vote.Result { return vote.Plurality(choices(b)) },
		"majority":      func(b []ballot) vote.Result { return vote.Majority(choices(b)) },
		"supermajority": func(b []ballot) vote.Result { return must(vote.Supermajority(choices(b), 2, 3)) },
		"unanimity":     func(b []ballot) vote.Result { return vote.Unanimity(choices(b)) },
		"approval":      func(b []ballot) vote.Result { return must(vote.Approval(rankings(b))) },
		"borda":         func(b []ballot) vote.Result { return must(vote.Borda(rankings(b))) },
		"run-off":       func(b []ballot) vote.Result { return must(vote.InstantRunoff(rankings(b))) },
		"cumulative": func(b []ballot) vote.Result {
			points := make([]map[string]int, len(b))
			for i := range b {
				points[i] = b[i].points
			}
			return must(vote.Cumulative(points, budget))
		},
		"weighted": func(b []ballot) vote.Result {
			weighted := make([]vote.Choice, len(b))
			for i, name := range choices(b) {
				weighted[i] = vote.Choice{For: name, Confidence: b[i].confidence}
			}
			return must(vote.Weighted(weighted))
		},
	}
}

// each runs random elections through every protocol.
func each(t *testing.T, check func(t *testing.T, random *rand.Rand, count func([]ballot) vote.Result, ballots []ballot)) {
	t.Helper()
	for name, count := range protocols(t) {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			for range elections {
				check(t, random, count, draw(random))
			}
		})
	}
}

func TestResultIsConsistent(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, count func([]ballot) vote.Result, ballots []ballot) {
		r := count(ballots)
		require.Equal(t, len(ballots), r.Cast+r.Abstained)
		require.Equal(t, r.Cast == 0, len(r.Leaders) == 0, "somebody leads if anybody voted")
		require.Equal(t, r.Cast == 0, len(r.Tally) == 0)
		require.Equal(t, len(r.Leaders) > 1, r.Tie())
		require.True(t, slices.IsSorted(r.Leaders))
		require.True(t, slices.IsSortedFunc(r.Tally, func(a, b vote.Count) int {
			if a.Votes > b.Votes || a.Votes == b.Votes && a.Name < b.Name {
				return -1
			}
			return 1
		}), "%v", r.Tally)
		for i, c := range r.Tally {
			require.Equal(t, c.Votes == r.Tally[0].Votes, slices.Contains(r.Leaders, c.Name), "%d", i)
		}
		if r.Winner != "" {
			require.Equal(t, []string{r.Winner}, r.Leaders)
			require.GreaterOrEqual(t, r.Tally[0].Votes, r.Needed)
		} else if len(r.Leaders) == 1 {
			require.Less(t, r.Tally[0].Votes, r.Needed)
		}
	})
}

func TestOrderOfBallotsDoesNotMatter(t *testing.T) {
	each(t, func(t *testing.T, random *rand.Rand, count func([]ballot) vote.Result, ballots []ballot) {
		want := count(ballots)
		for range 3 {
			random.Shuffle(len(ballots), func(i, j int) { ballots[i], ballots[j] = ballots[j], ballots[i] })
			require.Equal(t, want, count(ballots))
		}
	})
}

func TestNamesDoNotMatter(t *testing.T) {
	each(t, func(t *testing.T, random *rand.Rand, count func([]ballot) vote.Result, ballots []ballot) {
		other := map[string]string{}
		for i, n := range random.Perm(len(names)) {
			other[names[i]] = names[n]
		}
		renamed := make([]ballot, len(ballots))
		for i, b := range ballots {
			renamed[i] = ballot{points: map[string]int{}, confidence: b.confidence}
			for _, name := range b.ranking {
				renamed[i].ranking = append(renamed[i].ranking, other[name])
			}
			for name, points := range b.points {
				renamed[i].points[other[name]] = points
			}
		}
		before, after := count(ballots), count(renamed)
		require.Equal(t, other[before.Winner], after.Winner)
		require.Equal(t, tally(before, other), tally(after, nil))
		require.Len(t, after.Rounds, len(before.Rounds))
		for i, round := range before.Rounds {
			var gone []string
			for _, name := range round.Eliminated {
				gone = append(gone, other[name])
			}
			require.ElementsMatch(t, gone, after.Rounds[i].Eliminated)
		}
	})
}

// tally is a result's tally as a map, under other names if there are some.
func tally(r vote.Result, other map[string]string) map[string]int {
	out := map[string]int{}
	for _, c := range r.Tally {
		if other != nil {
			c.Name = other[c.Name]
		}
		out[c.Name] = c.Votes
	}
	return out
}

// A winner that gains support stays the winner. Instant run-off alone does not promise it.
func TestSupportDoesNotHarm(t *testing.T) {
	for _, name := range []string{"plurality", "majority", "supermajority", "unanimity", "approval", "borda", "cumulative", "weighted"} {
		t.Run(name, func(t *testing.T) {
			count := protocols(t)[name]
			random := rand.New(rand.NewPCG(3, 4))
			raised := 0
			for range elections {
				ballots := draw(random)
				before := count(ballots)
				if before.Winner == "" {
					continue
				}
				raised++
				b := &ballots[random.IntN(len(ballots))]
				switch place := slices.Index(b.ranking, before.Winner); {
				case name == "weighted" && place == 0:
					b.confidence = 1
				case place < 0 && name != "approval" && name != "borda":
					b.ranking = slices.Insert(slices.Clone(b.ranking), 0, before.Winner)
				case place < 0:
					b.ranking = append(slices.Clone(b.ranking), before.Winner)
				case place > 0:
					b.ranking[place], b.ranking[place-1] = b.ranking[place-1], b.ranking[place]
				}
				for _, other := range slices.Sorted(maps.Keys(b.points)) {
					if b.points[other] > 0 && other != before.Winner {
						b.points[other]--
						b.points[before.Winner]++
						break
					}
				}
				require.Equal(t, before.Winner, count(ballots).Winner)
			}
			require.Greater(t, raised, elections/20)
		})
	}
}

func TestStricterRulesElectTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	all := protocols(t)
	elected := map[string]int{}
	for range elections {
		ballots := draw(random)
		winner := ""
		for _, name := range []string{"unanimity", "supermajority", "majority", "plurality"} {
			result := all[name](ballots)
			if winner != "" {
				require.Equal(t, winner, result.Winner, name)
			}
			winner = result.Winner
			if winner != "" {
				elected[name]++
			}
		}
		if majority := all["majority"](ballots).Winner; majority != "" {
			require.Equal(t, majority, all["run-off"](ballots).Winner, "a run-off respects a majority of first places")
		}
	}
	assert.Less(t, elected["unanimity"], elected["supermajority"])
	assert.Less(t, elected["supermajority"], elected["majority"])
	assert.Less(t, elected["majority"], elected["plurality"])
	assert.Positive(t, elected["unanimity"])
}

func TestCountsAddUp(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	all := protocols(t)
	sum := func(tally []vote.Count) (total int) {
		for _, c := range tally {
			total += c.Votes
		}
		return total
	}
	for range elections {
		ballots := draw(random)
		var entries, points, weight int
		for _, b := range ballots {
			entries += len(b.ranking)
			for _, n := range b.points {
				points += n
			}
			if len(b.ranking) > 0 {
				weight += int(b.confidence*10+0.5) * (vote.FullConfidence / 10)
			}
		}
		for _, name := range []string{"plurality", "majority", "supermajority", "unanimity"} {
			r := all[name](ballots)
			require.Equal(t, r.Cast, sum(r.Tally), name)
		}
		require.Equal(t, entries, sum(all["approval"](ballots).Tally))
		require.Equal(t, points, sum(all["cumulative"](ballots).Tally))
		require.Equal(t, weight, sum(all["weighted"](ballots).Tally))
		r := all["borda"](ballots)
		require.Equal(t, r.Cast*len(r.Tally)*max(len(r.Tally)-1, 0), sum(r.Tally), "two points for each pair of candidates on each ballot")
		r = all["run-off"](ballots)
		for _, round := range r.Rounds {
			require.Equal(t, r.Cast, sum(round.Tally)+round.Exhausted)
		}
	}
}

// On ballots that say no more than one name, all protocols find what plurality finds.
func TestOneNameIsPlurality(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 16))
	all := protocols(t)
	for range elections {
		ballots := draw(random)
		for i := range ballots {
			b := &ballots[i]
			b.ranking = b.ranking[:min(1, len(b.ranking))]
			b.confidence, b.points = 1, map[string]int{}
			for _, name := range b.ranking {
				b.points[name] = 1
			}
		}
		want := all["plurality"](ballots)
		require.Equal(t, want, all["approval"](ballots))
		require.Equal(t, want, all["cumulative"](ballots))
		weighted := all["weighted"](ballots)
		for i := range weighted.Tally {
			weighted.Tally[i].Votes /= vote.FullConfidence
		}
		require.Equal(t, want, weighted)
		require.Equal(t, want.Leaders, all["borda"](ballots).Leaders)
	}
}
