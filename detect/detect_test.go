package detect_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/detect"
)

// numbered is a text of n+2 words, which has n sequences; from is its first word.
func numbered(from, n int) detect.Shingles {
	var b strings.Builder
	for i := range n + 2 {
		b.WriteString(strings.Repeat("x", from+i+1) + " ")
	}
	return detect.Shingle(b.String())
}

func TestRepetition(t *testing.T) {
	now := numbered(0, 100)
	part := func(n int) detect.Shingles { return numbered(0, n) } // overlaps with now by n/100
	none := numbered(200, 10)
	for _, c := range []struct {
		name     string
		earlier  []detect.Shingles
		level    detect.Level
		value    float64
		limit    float64
		evidence string
	}{
		{"the first speech", nil, detect.LevelNone, 0, detect.Noticeable, ""},
		{"nothing in common", []detect.Shingles{none}, detect.LevelNone, 0, detect.Noticeable, "0.000 at most (the speech before)"},
		{"below", []detect.Shingles{part(11)}, detect.LevelNone, 0.11, detect.Noticeable, "0.110"},
		{"from 0.12 on", []detect.Shingles{part(12)}, detect.LevelNoticeable, 0.12, detect.Noticeable, "0.120"},
		{"below 0.30", []detect.Shingles{part(29)}, detect.LevelNoticeable, 0.29, detect.Noticeable, "0.290"},
		{"from 0.30 on", []detect.Shingles{part(30)}, detect.LevelStrong, 0.30, detect.Repetitive, "0.300"},
		{"all of it", []detect.Shingles{now}, detect.LevelStrong, 1, detect.Repetitive, "1.000"},
		{"the highest counts", []detect.Shingles{part(20), part(40), none}, detect.LevelStrong, 0.40, detect.Repetitive, "0.400 at most (2 speeches before)"},
		{"of equal ones the latest", []detect.Shingles{part(20), part(20), none}, detect.LevelNoticeable, 0.20, detect.Noticeable, "(2 speeches before)"},
		{"the fourth before", []detect.Shingles{now, part(50), none, none, none}, detect.LevelStrong, 0.50, detect.Repetitive, "(4 speeches before)"},
		{"not the fifth", []detect.Shingles{now, none, none, none, none}, detect.LevelNone, 0, detect.Noticeable, "(the speech before)"},
	} {
		found := detect.Repetition(c.earlier, now)
		assert.Equal(t, detect.KindRepetition, found.Kind, c.name)
		assert.Equal(t, c.level, found.Level, c.name)
		assert.Equal(t, c.level != detect.LevelNone, found.Found(), c.name)
		assert.Equal(t, c.value, found.Value, c.name)
		assert.Equal(t, c.limit, found.Limit, c.name)
		assert.Contains(t, found.Evidence, c.evidence, c.name)
		assert.Equal(t, c.evidence == "", found.Evidence == "", c.name)
	}
	assert.False(t, detect.Repetition([]detect.Shingles{{}}, detect.Shingles{}).Found(), "to say nothing is not to repeat oneself")
}

// Among speeches of fresh sentences nothing is found; one that repeats half of an earlier one is.
func TestRepetitionOfSpeeches(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 40 {
		var earlier []detect.Shingles
		var last []string
		for range 6 {
			now := speech(random, 20)
			require.Equal(t, detect.LevelNone, detect.Repetition(earlier, detect.Shingle(text(now))).Level)
			earlier, last = append(earlier, detect.Shingle(text(now))), now
		}
		now := slices.Concat(last[:5], speech(random, 15))
		require.NotEqual(t, detect.LevelStrong, detect.Repetition(earlier, detect.Shingle(text(now))).Level)
		now = slices.Concat(last[:12], speech(random, 8))
		require.Equal(t, detect.LevelStrong, detect.Repetition(earlier, detect.Shingle(text(now))).Level)
	}
}

func TestDiminishing(t *testing.T) {
	type rounds = []detect.Round
	nan := math.NaN()
	none := "Quality and novelty have not both fallen over 3 rounds, nor were the last 2 rounds repetitive."
	fell := "quality fell from 8 to 6.5 and novelty from 7 to 3 over 3 rounds"
	for _, c := range []struct {
		name         string
		rounds       rounds
		value, limit float64 // found if value reaches limit
		evidence     string
	}{
		{"no rounds", nil, 0, 3, ""},
		{"one round", rounds{{Quality: 8, Novelty: 7}}, 1, 3, none},
		{"two falls are three rounds", rounds{{Quality: 8, Novelty: 7}, {Quality: 7, Novelty: 5}}, 2, 3, none},
		{
			"both fall",
			rounds{{Quality: 8, Novelty: 7}, {Quality: 7, Novelty: 5}, {Quality: 6.5, Novelty: 3}},
			3, 3, "Returns diminish: " + fell + ".",
		},
		{
			"a longer fall",
			rounds{{Quality: 1, Novelty: 1}, {Quality: 9, Novelty: 9}, {Quality: 8, Novelty: 7}, {Quality: 7, Novelty: 5}, {Quality: 6.333, Novelty: 3}},
			4, 3, "Returns diminish: quality fell from 9 to 6.33 and novelty from 9 to 3 over 4 rounds.",
		},
		{"quality alone", rounds{{Quality: 8, Novelty: 7}, {Quality: 7, Novelty: 7}, {Quality: 6, Novelty: 7}}, 1, 3, none},
		{"novelty alone", rounds{{Quality: 8, Novelty: 7}, {Quality: 8, Novelty: 6}, {Quality: 8, Novelty: 5}}, 1, 3, none},
		{"not strictly", rounds{{Quality: 8, Novelty: 7}, {Quality: 8, Novelty: 6}, {Quality: 7, Novelty: 5}}, 2, 3, none},
		{"recovered", rounds{{Quality: 8, Novelty: 7}, {Quality: 7, Novelty: 5}, {Quality: 6, Novelty: 3}, {Quality: 7, Novelty: 4}}, 1, 3, none},
		{"in turn", rounds{{Quality: 8, Novelty: 7}, {Quality: 7, Novelty: 8}, {Quality: 6, Novelty: 7}}, 2, 3, none},
		{"marks that nobody gave", rounds{{Quality: nan, Novelty: 7}, {Quality: nan, Novelty: 5}, {Quality: nan, Novelty: 3}}, 1, 3, none},
		{"one mark that nobody gave", rounds{{Quality: 8, Novelty: 7}, {Quality: nan, Novelty: 5}, {Quality: 6, Novelty: 3}}, 1, 3, none},
		{"no marks at all", make(rounds, 5), 1, 3, none},

		{"one repetitive round", rounds{{}, {Repetitive: true}}, 1, 3, none},
		{"two of them", rounds{{}, {Repetitive: true}, {Repetitive: true}}, 2, 2, "Returns diminish: the last 2 rounds were repetitive."},
		{"from the beginning", rounds{{Repetitive: true}, {Repetitive: true}, {Repetitive: true}}, 3, 2, "Returns diminish: the last 3 rounds were repetitive."},
		{"not in a row", rounds{{Repetitive: true}, {}, {Repetitive: true}}, 1, 3, none},
		{"no longer", rounds{{Repetitive: true}, {Repetitive: true}, {}}, 1, 3, none},
		{
			"both patterns",
			rounds{{Quality: 8, Novelty: 7}, {Quality: 7, Novelty: 5, Repetitive: true}, {Quality: 6.5, Novelty: 3, Repetitive: true}},
			3, 3, "Returns diminish: " + fell + "; the last 2 rounds were repetitive.",
		},

		{
			"further evidence",
			rounds{
				{Quality: 8, Novelty: 7, Engagement: 6, Words: 300},
				{Quality: 7, Novelty: 5, Engagement: 5, Words: 250},
				{Quality: 6.5, Novelty: 3, Engagement: 4, Words: 180},
			},
			3, 3, "Returns diminish: " + fell + "; engagement fell from 6 to 4 over 3 rounds; speeches shrank from 300 to 180 words over 3 rounds.",
		},
		{
			"only the length",
			rounds{
				{Quality: 8, Novelty: 7, Engagement: 6, Words: 300},
				{Quality: 7, Novelty: 5, Engagement: 7, Words: 250},
				{Quality: 6.5, Novelty: 3, Engagement: 4, Words: 180},
			},
			3, 3, "Returns diminish: " + fell + "; speeches shrank from 300 to 180 words over 3 rounds.",
		},
		{
			"further evidence is no reason of its own",
			rounds{
				{Engagement: 6, Words: 300}, {Engagement: 5, Words: 250}, {Engagement: 4, Words: 180},
			},
			1, 3, none,
		},
	} {
		found := detect.Diminishing(c.rounds)
		want := detect.Finding{Kind: detect.KindDiminishing, Value: c.value, Limit: c.limit, Evidence: c.evidence}
		if c.value >= c.limit {
			want.Level = detect.LevelStrong
		}
		assert.Equal(t, want, found, c.name)
	}
}

// Only the end of a debate counts: what went before a round that did not fall changes nothing.
func TestDiminishingLooksAtTheEnd(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	draw := func(n int) []detect.Round {
		out := make([]detect.Round, n)
		for i := range out {
			out[i] = detect.Round{Quality: float64(random.IntN(4)), Novelty: float64(random.IntN(4)), Repetitive: random.IntN(3) == 0}
		}
		return out
	}
	fallen := 0
	for range 3000 {
		end := draw(1 + random.IntN(4))
		begin := append(draw(random.IntN(3)), detect.Round{Quality: -1, Novelty: -1})
		a, b := detect.Diminishing(end), detect.Diminishing(append(begin, end...))
		require.Equal(t, a, b)
		if a.Found() {
			fallen++
		}
		require.Equal(t, a.Found(), a.Value >= a.Limit)
	}
	require.Greater(t, fallen, 100)
}

func TestDrift(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name     string
		marks    []float64
		level    detect.Level
		value    float64
		evidence string
	}{
		{"no marks", nil, detect.LevelNone, 0, ""},
		{"no mark is one", []float64{nan, -1, 11, math.Inf(1), math.Inf(-1)}, detect.LevelNone, 0, ""},
		{"on topic", []float64{8}, detect.LevelNone, 8, "Relevance is 8.00 of 10 on average; 0 of 1 marks are below 5."},
		{"exactly 5", []float64{5}, detect.LevelNone, 5, "Relevance is 5.00 of 10 on average; 0 of 1 marks are below 5."},
		{"below 5", []float64{4.75}, detect.LevelStrong, 4.75, "Relevance is 4.75 of 10 on average; 1 of 1 marks are below 5."},
		{"nothing to do with it", []float64{0}, detect.LevelStrong, 0, "Relevance is 0.00 of 10 on average; 1 of 1 marks are below 5."},
		{"one of three", []float64{10, 9, 2}, detect.LevelNoticeable, 7, "Relevance is 7.00 of 10 on average; 1 of 3 marks are below 5."},
		{"the debate", []float64{3, 2, 7}, detect.LevelStrong, 4, "Relevance is 4.00 of 10 on average; 2 of 3 marks are below 5."},
		{"what is no mark is passed over", []float64{nan, 8, 80, 6}, detect.LevelNone, 7, "Relevance is 7.00 of 10 on average; 0 of 2 marks are below 5."},
	} {
		want := detect.Finding{Kind: detect.KindDrift, Level: c.level, Value: c.value, Limit: detect.LeastRelevance, Evidence: c.evidence}
		assert.Equal(t, want, detect.Drift(c.marks...), c.name)
	}
}
