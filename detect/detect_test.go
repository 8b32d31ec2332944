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
