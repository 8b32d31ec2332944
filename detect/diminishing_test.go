package detect_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/detect"
	"github.com/agonist-dev/debate/internal/longform"
)

// marked returns rounds with these marks of quality.
func marked(quality ...float64) []detect.Round {
	out := make([]detect.Round, len(quality))
	for i, q := range quality {
		out[i].Quality = q
	}
	return out
}

// with gives the rounds further marks.
func with(rounds []detect.Round, set func(r *detect.Round, mark float64), marks ...float64) []detect.Round {
	for i, m := range marks {
		set(&rounds[i], m)
	}
	return rounds
}

func TestDiminishing(t *testing.T) {
	nan := math.NaN()
	novelty := func(r *detect.Round, mark float64) { r.Novelty = mark }
	engagement := func(r *detect.Round, mark float64) { r.Engagement = mark }
	words := func(r *detect.Round, n float64) { r.Words = int(n) }
	repeats := func(r *detect.Round, yes float64) { r.Repetitive = yes > 0 }
	const (
		few    = "A fall takes 4 marks of quality or novelty, or 3 of both that fall by 2, and the last 2 rounds were not repetitive."
		steady = " not fall more than chance explains (t = "
		fell   = "Returns diminish: quality fell by 1 a round over 5 rounds (t = 5.27, limit 4.54)"
	)
	for _, c := range []struct {
		name     string
		rounds   []detect.Round
		found    bool
		limit    float64
		evidence string
	}{
		{"no rounds", nil, false, 6.965, ""},
		{"one round", marked(8), false, 6.965, few},
		{"three rounds, however they fall", marked(9, 5, 1), false, 6.965, few},
		{"four have to fall by two a round", marked(9, 8, 7, 6), false, 6.965, "Quality does" + steady + "3.73, limit 6.96)"},
		{"four that do", marked(9, 7, 5, 3), true, 6.965, "Returns diminish: quality fell by 2 a round over 4 rounds (t = 7.45, limit 6.96)."},
		{"five", marked(9, 8, 7, 6, 5), true, 4.541, fell + "."},
		{"five, by little", marked(9, 8.9, 8.8, 8.7, 8.6), false, 4.541, steady + "0.53, limit 4.54)"},
		{"eight, by half a mark", marked(9, 8.5, 8, 7.5, 7, 6.5, 6, 5.5), true, 3.143, "quality fell by 0.5 a round over 8 rounds (t = 5.40, limit 3.14)."},
		{"scattered", marked(9, 4, 8, 3, 7, 2), false, 3.747, steady},
		{"rising", marked(1, 2, 3, 4, 5), false, 4.541, steady + "-5.27, limit 4.54)"},
		{"recovered", marked(9, 8, 7, 6, 9), false, 4.541, steady},
		{"after a steady beginning", marked(1, 1, 1, 1, 9, 9, 8, 7, 6, 5, 4, 3), true, 3.143, "over 8 rounds"},
		{"marks that nobody gave", marked(nan, nan, nan, nan, nan), false, 6.965, few},
		{"marks out of bounds", marked(900, 800, math.Inf(1), math.Inf(-1), -1), false, 6.965, few},
		{"some that nobody gave", marked(9, nan, 7, 6, 5, nan, 3), true, 4.541, "quality fell by 1 a round over 5 rounds"},
		{"no marks at all", make([]detect.Round, 5), false, 4.541, "Quality does" + steady + "0.00"},

		{"novelty falls too", with(marked(9, 8, 7, 6, 5), novelty, 9, 7, 5, 3, 1), true, 4.541, fell + "; novelty fell by 2 a round over 5 rounds"},
		{"novelty stays", with(marked(9, 8, 7, 6, 5), novelty, 7, 7, 7, 7, 7), false, 4.541, "Quality and novelty do" + steady + "0.00"},
		{"novelty wavers", with(marked(9, 8, 7, 6, 5), novelty, 7, 6, 7, 6, 7), false, 4.541, "Quality and novelty do" + steady + "0.00"},
		{"novelty alone falls", with(marked(7, 7, 7, 7, 7), novelty, 9, 8, 7, 6, 5), false, 4.541, "Quality and novelty do" + steady + "0.00"},
		{"novelty is marked twice", with(marked(9, 8, 7, 6, 5), novelty, nan, nan, nan, 8, 2), false, 6.965, few},
		{"nobody marks novelty", with(marked(9, 8, 7, 6, 5), novelty, nan, nan, nan, nan, nan), true, 4.541, fell + "."},

		{
			"three of both", with(marked(8, 7, 6), novelty, 8, 7, 6), true, 2,
			"Returns diminish: quality fell by 2 and novelty by 2, round by round, in the last 3 rounds.",
		},
		{"the last three of both", with(marked(7, 8, 7, 5), novelty, 3, 9, 8.5, 7), true, 2, "quality fell by 3 and novelty by 2, round by round"},
		{"three of both, in tenths", with(marked(8.2, 7.2, 6.2), novelty, 8.2, 7.2, 6.2), true, 2, "quality fell by 2 and novelty by 2, round by round"},
		{"three of both, by little", with(marked(8, 7.5, 6.5), novelty, 8, 7, 6), false, 6.965, few},
		{"three of both, one of them twice the same", with(marked(8, 7, 5), novelty, 8, 6, 6), false, 6.965, few},
		{"three of both, and one more that is better", with(marked(8, 7, 6, 7), novelty, 8, 7, 6, 5), false, 6.965, "Quality and novelty do" + steady},
		{"three of both, one of which nobody gave", with(marked(8, nan, 6, 5), novelty, 9, 8, 7, 6), false, 6.965, few},

		{"one repetitive round", with(marked(7, 7), repeats, 0, 1), false, 6.965, few},
		{"two of them", with(marked(7, 7, 7), repeats, 0, 1, 1), true, 2, "Returns diminish: the last 2 rounds were repetitive."},
		{"from the beginning", with(marked(7, 7, 7), repeats, 1, 1, 1), true, 2, "Returns diminish: the last 3 rounds were repetitive."},
		{"not in a row", with(marked(7, 7, 7), repeats, 1, 0, 1), false, 6.965, few},
		{"no longer", with(marked(7, 7, 7), repeats, 1, 1, 0), false, 6.965, few},
		{"both patterns", with(marked(9, 8, 7, 6, 5), repeats, 0, 0, 0, 1, 1), true, 4.541, fell + "; the last 2 rounds were repetitive."},

		{
			"further evidence", with(with(marked(9, 8, 7, 6, 5), engagement, 8, 7, 6, 5, 4), words, 300, 260, 220, 180, 140), true, 4.541,
			fell + "; engagement fell by 1 a round over 5 rounds (t = 5.27, limit 4.54); speeches shrank by 40 words a round over 5 rounds.",
		},
		{"lengths that waver", with(marked(9, 8, 7, 6, 5), words, 300, 290, 300, 290, 285), true, 4.541, fell + "."},
		{
			"further evidence is no reason of its own", with(with(marked(7, 7, 7, 7, 7), engagement, 8, 7, 6, 5, 4), words, 300, 260, 220, 180, 140),
			false, 4.541, steady,
		},
	} {
		found := detect.Diminishing(c.rounds)
		assert.Equal(t, detect.KindDiminishing, found.Kind, c.name)
		assert.Equal(t, c.found, found.Level == detect.LevelStrong, c.name)
		assert.Equal(t, c.found, found.Found(), c.name)
		assert.Equal(t, c.found, found.Value >= found.Limit, c.name)
		assert.Equal(t, c.limit, found.Limit, c.name)
		assert.Contains(t, found.Evidence, c.evidence, c.name)
		assert.Equal(t, c.evidence == "", found.Evidence == "", c.name)
	}
}

// scattered returns a debate whose quality falls by slope a round, with normal scatter (σ 0.7). Judges that give whole
// numbers round.
func scattered(random *rand.Rand, rounds int, slope float64, whole bool) []detect.Round {
	out := make([]detect.Round, rounds)
	for i := range out {
		mark := 8 - slope*float64(i) + 0.7*random.NormFloat64()
		if whole {
			mark = math.Round(mark)
		}
		out[i].Quality = min(10, max(0, mark))
	}
	return out
}

// alarmed reports whether any round of a debate raised an alarm, as the engine looks at them.
func alarmed(rounds []detect.Round) bool {
	for n := range rounds {
		if detect.Diminishing(rounds[:n+1]).Found() {
			return true
		}
	}
	return false
}

// The limits were tuned with another generator of random numbers.
func TestDiminishingOfScatteredMarks(t *testing.T) {
	longform.Lone(t)
	const debates = 5_000
	for _, c := range []struct {
		name        string
		rounds      int
		slope       float64
		whole       bool
		least, most float64 // percent
	}{
		{"random, 8 rounds", 8, 0, false, 0, 0.6},
		{"random, 8 rounds, whole numbers", 8, 0, true, 0, 0.6},
		{"random, 20 rounds", 20, 0, false, 0, 5},
		{"random, 20 rounds, whole numbers", 20, 0, true, 0, 5},
		{"falling, 8 rounds", 8, 0.7, false, 98, 100},
		{"falling, 8 rounds, whole numbers", 8, 0.7, true, 97, 100},
	} {
		random := rand.New(rand.NewPCG(20261122, 5))
		alarms := 0
		for range debates {
			if alarmed(scattered(random, c.rounds, c.slope, c.whole)) {
				alarms++
			}
		}
		percent := 100 * float64(alarms) / debates
		t.Logf("%s: %d of %d debates raised an alarm (%.2f %%)", c.name, alarms, debates, percent)
		require.LessOrEqual(t, percent, c.most, c.name)
		require.GreaterOrEqual(t, percent, c.least, c.name)
	}
}

// The same scatter around the same fall is found wherever it lies on the scale, and what is older than the window
// counts for nothing.
func TestDiminishingLooksAtTheEnd(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	fallen := 0
	for range 3000 {
		end := scattered(random, detect.TrendWindow, 0.5, true)
		for i := range end {
			end[i].Repetitive = random.IntN(3) == 0
		}
		begin := scattered(random, random.IntN(4), -1, true)
		a, b := detect.Diminishing(end), detect.Diminishing(append(begin, end...))
		require.Equal(t, a, b)
		require.Equal(t, a.Found(), a.Value >= a.Limit)
		if a.Found() {
			fallen++
		}
	}
	require.Greater(t, fallen, 100)
}

// paired returns rounds whose quality and novelty both fall by slope a round, with normal scatter (σ 0.7) and a correlation between the
// two, as judges have that mark all high or all low.
func paired(random *rand.Rand, rounds int, slope, correlation float64, whole bool) []detect.Round {
	out := make([]detect.Round, rounds)
	for i := range out {
		first, second := random.NormFloat64(), random.NormFloat64()
		second = correlation*first + math.Sqrt(1-correlation*correlation)*second
		for k, z := range []float64{first, second} {
			mark := 8 - slope*float64(i) + 0.7*z
			if whole {
				mark = math.Round(mark)
			}
			mark = min(10, max(0, mark))
			if k == 0 {
				out[i].Quality = mark
			} else {
				out[i].Novelty = mark
			}
		}
	}
	return out
}

// Three falling marks of quality and novelty are found early, and are chance in few debates. The limit was chosen with another
// generator of random numbers.
func TestThreeFallingMarksOfScatteredOnes(t *testing.T) {
	longform.Lone(t)
	const debates = 5_000
	for _, c := range []struct {
		name        string
		rounds      int
		slope       float64
		correlation float64
		whole       bool
		least, most float64 // percent
	}{
		{"random, independent", 8, 0, 0, false, 0, 0.6},
		{"random, independent, whole numbers", 8, 0, 0, true, 0, 1.3},
		{"random, correlation 0.5", 8, 0, 0.5, false, 0, 2.5},
		{"random, correlation 0.5, whole numbers", 8, 0, 0.5, true, 0, 4.2},
		{"random, correlation 0.9", 8, 0, 0.9, false, 0, 7.5},
		{"random, correlation 0.9, whole numbers", 8, 0, 0.9, true, 0, 11.5},
		{"falling by 1, 3 rounds", 3, 1, 0.5, false, 22, 100},
		{"falling by 1, 5 rounds", 5, 1, 0.5, false, 60, 100},
		{"falling by 1, 5 rounds, whole numbers", 5, 1, 0.5, true, 48, 100},
	} {
		random := rand.New(rand.NewPCG(20261129, 6))
		alarms := 0
		for range debates {
			if alarmed(paired(random, c.rounds, c.slope, c.correlation, c.whole)) {
				alarms++
			}
		}
		percent := 100 * float64(alarms) / debates
		t.Logf("%s: %d of %d debates raised an alarm (%.2f %%)", c.name, alarms, debates, percent)
		require.LessOrEqual(t, percent, c.most, c.name)
		require.GreaterOrEqual(t, percent, c.least, c.name)
	}
}
