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

func ExampleHybrid() {
	for _, p := range []window.Problem{
		{},                             // no model that summarises
		{Summarizer: true},             // there is one, and nobody asked for it
		{Summarizer: true, Auto: true}, // the host wants summaries
	} {
		fmt.Printf("summarizer %t, auto %t:\n", p.Summarizer, p.Auto)
		p.Sums, p.Window = []int{0}, 14_096
		var last window.Warning
		for range 22 {
			p.Sums = append(p.Sums, p.Sums[len(p.Sums)-1]+500)
			plan := window.Hybrid{}.Plan(p)
			if plan.Warning != last {
				fmt.Printf("%d messages: from %d, summarise %v, warning %q\n", p.Len(), plan.From, plan.Summarize, plan.Warning)
			}
			last = plan.Warning
			if plan.Summarize != (window.Range{}) {
				p.Covered, p.Summary = plan.Summarize.To, 1000
			}
		}
	}
	// Output:
	// summarizer false, auto false:
	// 16 messages: from 0, summarise {0 0}, warning "near"
	// 18 messages: from 0, summarise {0 0}, warning "high"
	// 21 messages: from 8, summarise {0 0}, warning "dropped"
	// summarizer true, auto false:
	// 16 messages: from 0, summarise {0 0}, warning "near"
	// 18 messages: from 0, summarise {0 10}, warning "high"
	// 19 messages: from 10, summarise {0 0}, warning ""
	// summarizer true, auto true:
	// 16 messages: from 0, summarise {0 9}, warning "near"
	// 17 messages: from 9, summarise {0 0}, warning ""
	// 22 messages: from 9, summarise {9 16}, warning "near"
}

func TestHybridKeepsTheContract(t *testing.T) { windowtest.Run(t, window.Hybrid{}) }

func TestHybrid(t *testing.T) {
	over := sums(100, 200, 200, 200, 101)
	high := sums(100, 200, 200, 300, 100)
	for _, c := range []struct {
		name string
		p    window.Problem
		want window.Plan
	}{
		{"nothing", window.Problem{Summarizer: true, Auto: true}, window.Plan{Fits: true, TooBig: -1}},
		{
			"less than 80 percent",
			window.Problem{Sums: sums(100, 300, 399), Summarizer: true, Auto: true},
			window.Plan{Used: 799, Fits: true, TooBig: -1},
		},
		{
			"less than 80 percent, whatever the prompt is rounded to",
			window.Problem{Sums: sums(100, 300, 398), Fixed: 1},
			window.Plan{Used: 799, Fits: true, TooBig: -1},
		},
		{
			"80 percent",
			window.Problem{Sums: sums(100, 200, 200, 200, 100), Summarizer: true},
			window.Plan{Used: 800, Fits: true, TooBig: -1, Warning: window.Near},
		},
		{
			"80 percent, with summaries",
			window.Problem{Sums: sums(100, 200, 200, 200, 100), Summarizer: true, Auto: true},
			window.Plan{Summarize: window.Range{From: 0, To: 3}, Used: 800, Fits: true, TooBig: -1, Warning: window.Near},
		},
		{
			"over 80 percent, and all of it fits",
			window.Problem{Sums: over},
			window.Plan{Used: 801, Fits: true, TooBig: -1, Warning: window.Near},
		},
		{
			"over 80 percent, summaries are possible",
			window.Problem{Sums: over, Summarizer: true},
			window.Plan{Used: 801, Fits: true, TooBig: -1, Warning: window.Near},
		},
		{
			"over 80 percent, summaries are requested and not possible",
			window.Problem{Sums: over, Auto: true},
			window.Plan{Used: 801, Fits: true, TooBig: -1, Warning: window.Near},
		},
		{
			"over 80 percent, with summaries",
			window.Problem{Sums: over, Summarizer: true, Auto: true},
			window.Plan{Summarize: window.Range{From: 0, To: 3}, Used: 801, Fits: true, TooBig: -1, Warning: window.Near},
		},
		{
			"just below 90 percent, summaries are possible",
			window.Problem{Sums: sums(100, 200, 200, 300, 99), Summarizer: true},
			window.Plan{Used: 899, Fits: true, TooBig: -1, Warning: window.Near},
		},
		{
			"90 percent, summaries are possible",
			window.Problem{Sums: high, Summarizer: true},
			window.Plan{Summarize: window.Range{From: 0, To: 3}, Used: 900, Fits: true, TooBig: -1, Warning: window.High},
		},
		{
			"90 percent, no summaries",
			window.Problem{Sums: high, Auto: true},
			window.Plan{Used: 900, Fits: true, TooBig: -1, Warning: window.High},
		},
		{
			"a summary",
			window.Problem{Sums: high, Covered: 3, Summary: 150, Summarizer: true},
			window.Plan{Head: 1, Summary: true, From: 3, Used: 650, Fits: true, TooBig: -1},
		},
		{
			"a summary, and over 80 percent beside it",
			window.Problem{Sums: sums(100, 300, 300, 100, 200, 100, 100), Covered: 3, Summary: 250, Summarizer: true},
			window.Plan{Head: 1, Summary: true, From: 3, Used: 850, Fits: true, TooBig: -1, Warning: window.Near},
		},
		{
			"a summary, and a model that needs none",
			window.Problem{Sums: sums(100, 300, 300, 99), Covered: 3, Summary: 150, Summarizer: true, Auto: true},
			window.Plan{Used: 799, Fits: true, TooBig: -1},
		},
		{
			"a large prompt",
			window.Problem{Sums: sums(50, 50, 50, 50, 50), Fixed: 700},
			window.Plan{Used: 950, Fits: true, TooBig: -1, Warning: window.High},
		},
		{
			"a large prompt, over the limit",
			window.Problem{Sums: sums(50, 50, 50, 50, 50, 51), Fixed: 700},
			window.Plan{Head: 1, From: 2, Used: 951, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
		{
			"the newest is too big for any summary to help",
			window.Problem{Sums: sums(100, 400, 400, 1001), Summarizer: true, Auto: true},
			window.Plan{From: 4, TooBig: 3, Warning: window.Full},
		},
	} {
		c.p.Window, c.p.Reserve = 1000, -1
		assert.Equal(t, c.want, window.Hybrid{}.Plan(c.p), c.name)
	}
}

// Without summaries, what is sent stays between 60 % of the limit and all of it once something is left out.
func TestHybridStaysBetweenItsMarks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	p := window.Problem{Sums: []int{0}, Window: 100_000, Reserve: -1}
	dropped := 0
	for i := range 2000 {
		p.Sums = append(p.Sums, p.Sums[i]+100+r.IntN(500))
		plan := window.Hybrid{}.Plan(p)
		if plan.Warning == window.Dropped {
			dropped++
			require.GreaterOrEqual(t, plan.Used, 60_000)
		}
		require.LessOrEqual(t, plan.Used, 100_000)
	}
	assert.Greater(t, dropped, 1000)
}

// What fits is sent. With a model that summarises, nothing is left out that no summary holds.
func TestHybridLeavesOutNothingThatFits(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 13))
		d := debate{manager: window.Hybrid{}, rand: r}
		d.Window, d.Fixed, d.Summarizer = 5000+r.IntN(8000), 500+r.IntN(400), seed%2 > 0
		limit, _ := d.Limit()
		d.Window, d.Reserve = d.Window+4096-limit/9, limit/9
		limit, _ = d.Limit()
		for range 60 {
			plan := d.turn(t, 20+r.IntN(limit/20))
			if d.Fixed+d.Size(0, d.Len()) <= limit && !plan.Summary {
				require.Zero(t, plan.From, "debate %d: %+v", seed, plan)
			}
			if d.Summarizer {
				require.LessOrEqual(t, plan.From, max(d.Covered, window.DefaultOpening), "debate %d: %+v", seed, plan)
			}
		}
	}
}
