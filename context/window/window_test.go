package window_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/context/window/windowtest"
)

func ExampleTruncate() {
	sums := []int{0}
	for range 30 {
		sums = append(sums, sums[len(sums)-1]+500)
		plan := window.Truncate{}.Plan(window.Problem{Sums: sums, Window: 12_000})
		if n := len(sums) - 1; n%5 == 0 {
			fmt.Printf("%d messages: from %d, %d tokens\n", n, plan.From, plan.Used)
		}
	}
	// Output:
	// 5 messages: from 0, 2500 tokens
	// 10 messages: from 0, 5000 tokens
	// 15 messages: from 0, 7500 tokens
	// 20 messages: from 5, 7500 tokens
	// 25 messages: from 10, 7500 tokens
	// 30 messages: from 15, 7500 tokens
}

func TestTruncateKeepsTheContract(t *testing.T) { windowtest.Run(t, window.Truncate{}) }

// sums makes running sums of sizes.
func sums(sizes ...int) []int {
	s := []int{0}
	for i, size := range sizes {
		s = append(s, s[i]+size)
	}
	return s
}

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		name string
		p    window.Problem
		want window.Plan
	}{
		{"nothing", window.Problem{}, window.Plan{Fits: true, TooBig: -1}},
		{
			"no limit",
			window.Problem{Sums: sums(1e6, 1e9), Fixed: 5},
			window.Plan{Used: 1e6 + 1e9 + 5, Fits: true, TooBig: -1},
		},
		{
			"fits",
			window.Problem{Sums: sums(100, 200), Fixed: 50, Window: 5096},
			window.Plan{Used: 350, Fits: true, TooBig: -1},
		},
		{
			"to the last token",
			window.Problem{Sums: sums(400, 600), Window: 5096},
			window.Plan{Used: 1000, Fits: true, TooBig: -1, Warning: window.High},
		},
		{
			"less than 80 percent",
			window.Problem{Sums: sums(400, 399), Window: 5096},
			window.Plan{Used: 799, Fits: true, TooBig: -1},
		},
		{
			"80 percent is near",
			window.Problem{Sums: sums(400, 400), Window: 5096},
			window.Plan{Used: 800, Fits: true, TooBig: -1, Warning: window.Near},
		},
		{
			"less than 90 percent",
			window.Problem{Sums: sums(400, 499), Window: 5096},
			window.Plan{Used: 899, Fits: true, TooBig: -1, Warning: window.Near},
		},
		{
			"90 percent is high",
			window.Problem{Sums: sums(400, 500), Window: 5096},
			window.Plan{Used: 900, Fits: true, TooBig: -1, Warning: window.High},
		},
		{
			"one token over",
			window.Problem{Sums: sums(300, 300, 300, 101), Window: 5096},
			window.Plan{From: 1, Used: 701, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
		{
			"a part of the sums",
			window.Problem{Sums: sums(9999, 300, 300, 300, 101)[1:], Window: 5096},
			window.Plan{From: 1, Used: 701, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
		{
			"the newest alone",
			window.Problem{Sums: sums(300, 300, 1000), Window: 5096},
			window.Plan{From: 2, Used: 1000, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
		{
			"the newest alone, in what rounding left",
			window.Problem{Sums: sums(300, 999), Fixed: 1, Window: 5096},
			window.Plan{From: 1, Used: 1000, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
		{
			"the newest is too big",
			window.Problem{Sums: sums(300, 300, 1001), Window: 5096},
			window.Plan{From: 3, TooBig: 2, Warning: window.Full},
		},
		{
			"an older one was too big",
			window.Problem{Sums: sums(300, 5000, 300), Window: 5096},
			window.Plan{From: 2, Used: 300, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
		{
			"the prompt alone is too big",
			window.Problem{Sums: sums(1), Fixed: 1001, Window: 5096},
			window.Plan{From: 1, Used: 1001, TooBig: -1, Warning: window.Full},
		},
		{
			"a window below the reserve",
			window.Problem{Sums: sums(1), Window: 4000},
			window.Plan{From: 1, TooBig: -1, Warning: window.Full},
		},
		{
			"a small window with its own reserve",
			window.Problem{Sums: sums(100), Window: 1000, Reserve: 500},
			window.Plan{Used: 100, Fits: true, TooBig: -1},
		},
		{
			"no reserve",
			window.Problem{Sums: sums(1000), Window: 1000, Reserve: -1},
			window.Plan{Used: 1000, Fits: true, TooBig: -1, Warning: window.High},
		},
		{
			"more output than reserve",
			window.Problem{Sums: sums(1001), Window: 9000, Output: 8000},
			window.Plan{From: 1, TooBig: 0, Warning: window.Full},
		},
		{
			"a large prompt",
			window.Problem{Sums: sums(20, 20, 20), Fixed: 950, Window: 5096},
			window.Plan{From: 1, Used: 990, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
	} {
		assert.Equal(t, c.want, window.Truncate{}.Plan(c.p), c.name)
	}
}

func TestProblemLimit(t *testing.T) {
	for _, c := range []struct {
		p       window.Problem
		tokens  int
		limited bool
	}{
		{window.Problem{}, 0, false},
		{window.Problem{Window: -1}, 0, false},
		{window.Problem{Window: 10_000}, 5904, true},
		{window.Problem{Window: 10_000, Output: 4000}, 5904, true},
		{window.Problem{Window: 10_000, Output: 5000}, 5000, true},
		{window.Problem{Window: 10_000, Reserve: 1}, 9999, true},
		{window.Problem{Window: 10_000, Reserve: -1}, 10_000, true},
		{window.Problem{Window: 10_000, Reserve: -1, Output: 4000}, 6000, true},
		{window.Problem{Window: 1000}, -3096, true},
	} {
		tokens, limited := c.p.Limit()
		assert.Equal(t, c.tokens, tokens)
		assert.Equal(t, c.limited, limited)
	}
}

// Between two drops the request only grows at its end; a drop leaves about 60 %, so that the next one is far.
func TestTruncateDropsSeldom(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	p := window.Problem{Sums: []int{0}, Window: 104_096, Fixed: 900}
	limit, _ := p.Limit()
	drops, last := 0, 0
	for i := range 4000 {
		p.Sums = append(p.Sums, p.Sums[i]+200+r.IntN(600))
		// Instructions differ from call to call; that must not move the cut.
		p.Fixed = 700 + r.IntN(900)
		plan := window.Truncate{}.Plan(p)
		require.True(t, plan.Fits)
		require.GreaterOrEqual(t, plan.From, last)
		if plan.From > last {
			drops++
			share := float64(p.Size(plan.From, p.Len())) / float64(limit)
			require.InDelta(t, 0.6, share, 0.02)
		}
		last = plan.From
	}
	total := p.Size(0, p.Len())
	assert.InDelta(t, float64(total)/(0.4*float64(limit-2048)), drops, 3)
}

func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		p := window.Problem{Sums: []int{0}, Summarizer: true, Auto: true}
		for i := range n {
			p.Sums = append(p.Sums, p.Sums[i]+500)
		}
		for _, s := range strategies {
			b.Run(fmt.Sprintf("%s/fits/%d", s.name, n), func(b *testing.B) {
				p.Window = n * 1000
				for b.Loop() {
					s.manager.Plan(p)
				}
			})
			b.Run(fmt.Sprintf("%s/dropped/%d", s.name, n), func(b *testing.B) {
				p.Window = 20_000
				for b.Loop() {
					s.manager.Plan(p)
				}
			})
		}
	}
}
