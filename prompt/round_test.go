package prompt_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/prompt"
)

func TestFill(t *testing.T) {
	tests := map[string]struct {
		text  string
		round int
		want  string
	}{
		"once":            {"Round " + prompt.Round + " of 3.", 2, "Round 2 of 3."},
		"several":         {prompt.Round + "-" + prompt.Round + prompt.Round, 12, "12-1212"},
		"nothing else":    {prompt.Round, 7, "7"},
		"none":            {"Round 1.", 2, "Round 1."},
		"empty":           {"", 2, ""},
		"zero":            {prompt.Round, 0, "0"},
		"negative":        {prompt.Round, -5, "-5"},
		"longest":         {prompt.Round + prompt.Round, math.MinInt64, "-9223372036854775808-9223372036854775808"},
		"half of one":     {"\uE000round", 2, "\uE000round"},
		"overlapping":     {"\uE000round\uE000round\uE000", 2, "2round\uE000"},
		"the plain word":  {"round " + prompt.Round, 3, "round 3"},
		"of how many":     {"Round " + prompt.Round + " of " + prompt.Rounds, 2, "Round 2 of 9"},
		"both, joined":    {prompt.Round + prompt.Rounds + prompt.Round, 2, "292"},
		"between two":     {prompt.Round + "rounds" + prompt.Round, 2, "2rounds2"},
		"other languages": {"第" + prompt.Round + "ラウンド", 3, "第3ラウンド"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, prompt.Fill(test.text, test.round, 9))
		})
	}
}

func TestFillTurn(t *testing.T) {
	set := parsed(t, nil)
	got := text(t, set, turn(prompt.Turn{Phase: "rebuttal", Rounds: 3}))
	assert.True(t, strings.HasPrefix(prompt.Fill(got, 2, 3), "Round 2 of 3.\n"))
	assert.True(t, strings.HasPrefix(prompt.Fill(got, 2, 5), "Round 2 of 5.\n"), "the number may be changed later")
	assert.NotContains(t, prompt.Fill(got, 2, 3), "\uE000")
}

func TestFillAllocates(t *testing.T) {
	text := strings.Repeat("Round "+prompt.Round+" of "+prompt.Rounds+". ", 20)
	assert.Equal(t, 1.0, testing.AllocsPerRun(100, func() { prompt.Fill(text, 1234, 5678) }), "the result alone")
	assert.Equal(t, 0.0, testing.AllocsPerRun(100, func() { prompt.Fill("Round 1.", 1234, 5678) }))
}

func FuzzFill(f *testing.F) {
	f.Add("Round "+prompt.Round+" of 3.", 2)
	f.Add("\uE000round\uE000round\uE000", -1)
	f.Add("Round "+prompt.Round+" of "+prompt.Rounds+"s"+prompt.Round, 2)
	f.Add("\xee\x80round\x80", 0)
	f.Fuzz(func(t *testing.T, text string, round int) {
		want := strings.NewReplacer(prompt.Round, strconv.Itoa(round), prompt.Rounds, strconv.Itoa(-round)).Replace(text)
		assert.Equal(t, want, prompt.Fill(text, round, -round))
	})
}
