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

func ExampleSummarize() {
	p := window.Problem{Sums: []int{0}, Window: 12_000, Summarizer: true}
	for range 30 {
		p.Sums = append(p.Sums, p.Sums[len(p.Sums)-1]+500)
		plan := window.Summarize{}.Plan(p)
		for plan.Summarize != (window.Range{}) {
			fmt.Printf("%d messages: summarise %v, ", p.Len(), plan.Summarize)
			p.Covered, p.Summary = plan.Summarize.To, 1000
			plan = window.Summarize{}.Plan(p)
			fmt.Printf("then send the first %d, the summary, and from %d, %d tokens\n", plan.Head, plan.From, plan.Used)
		}
	}
	// Output:
	// 13 messages: summarise {0 7}, then send the first 1, the summary, and from 7, 4500 tokens
	// 17 messages: summarise {7 12}, then send the first 1, the summary, and from 12, 4000 tokens
	// 22 messages: summarise {12 17}, then send the first 1, the summary, and from 17, 4000 tokens
	// 27 messages: summarise {17 22}, then send the first 1, the summary, and from 22, 4000 tokens
}

func TestSummarizeKeepsTheContract(t *testing.T) { windowtest.Run(t, window.Summarize{}) }

func TestSummarize(t *testing.T) {
	for _, c := range []struct {
		name string
		p    window.Problem
		want window.Plan
	}{
		{"nothing", window.Problem{Summarizer: true}, window.Plan{Fits: true, TooBig: -1}},
		{
			"less than 80 percent",
			window.Problem{Sums: sums(100, 300, 399), Summarizer: true},
			window.Plan{Used: 799, Fits: true, TooBig: -1},
		},
		{
			"80 percent",
			window.Problem{Sums: sums(100, 200, 200, 200, 100), Summarizer: true},
			window.Plan{Summarize: window.Range{From: 0, To: 3}, Used: 800, Fits: true, TooBig: -1, Warning: window.Near},
		},
		{
			"80 percent, the prompt included",
			window.Problem{Sums: sums(0, 200, 200, 200, 100), Fixed: 100, Summarizer: true},
			window.Plan{Summarize: window.Range{From: 0, To: 3}, Used: 800, Fits: true, TooBig: -1, Warning: window.Near},
		},
		{
			"80 percent, nobody to summarise",
			window.Problem{Sums: sums(100, 200, 200, 200, 100), Auto: true},
			window.Plan{Used: 800, Fits: true, TooBig: -1, Warning: window.Near},
		},
		{
			"more than the limit",
			window.Problem{Sums: sums(100, 300, 300, 300, 100), Summarizer: true},
			window.Plan{
				Head: 1, From: 2, Summarize: window.Range{From: 0, To: 3},
				Used: 800, Fits: true, TooBig: -1, Warning: window.High,
			},
		},
		{
			"more than the limit, nobody to summarise",
			window.Problem{Sums: sums(100, 300, 300, 300, 100)},
			window.Plan{Head: 1, From: 2, Used: 800, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
		{
			"a large newest message takes the rest with it",
			window.Problem{Sums: sums(100, 100, 100, 700), Summarizer: true},
			window.Plan{Summarize: window.Range{From: 0, To: 3}, Used: 1000, Fits: true, TooBig: -1, Warning: window.High},
		},
		{
			"a summary",
			window.Problem{Sums: sums(100, 300, 300, 300, 100), Covered: 3, Summary: 150, Summarizer: true},
			window.Plan{Head: 1, Summary: true, From: 3, Used: 650, Fits: true, TooBig: -1},
		},
		{
			"a summary, and a model that needs none",
			window.Problem{Sums: sums(100, 300, 300, 99), Covered: 3, Summary: 150, Summarizer: true},
			window.Plan{Used: 799, Fits: true, TooBig: -1},
		},
		{
			"a summary to be continued",
			window.Problem{Sums: sums(100, 300, 300, 200, 200, 100), Covered: 3, Summary: 200, Summarizer: true},
			window.Plan{
				Head: 1, Summary: true, From: 3, Summarize: window.Range{From: 3, To: 5},
				Used: 800, Fits: true, TooBig: -1, Warning: window.Near,
			},
		},
		{
			"a summary and the newest",
			window.Problem{Sums: sums(100, 300, 300, 600), Covered: 3, Summary: 100, Summarizer: true},
			window.Plan{Head: 1, Summary: true, From: 3, Used: 800, Fits: true, TooBig: -1, Warning: window.Near},
		},
		{
			"a summary, and sliding",
			window.Problem{Sums: sums(100, 300, 300, 300, 300, 100), Covered: 3, Summary: 250},
			window.Plan{Head: 1, Summary: true, From: 4, Used: 750, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
		{
			"no place for the opening beside the summary and the newest",
			window.Problem{Sums: sums(100, 300, 300, 700), Covered: 3, Summary: 250, Summarizer: true},
			window.Plan{Summary: true, From: 3, Used: 950, Fits: true, TooBig: -1, Warning: window.High},
		},
		{
			"no place for the summary and the opening beside the newest",
			window.Problem{Sums: sums(100, 300, 300, 950), Covered: 3, Summary: 250, Summarizer: true},
			window.Plan{From: 3, Used: 950, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
		{
			"no place for the summary at all",
			window.Problem{Sums: sums(100, 300, 300, 300, 100), Covered: 3, Summary: 901, Summarizer: true},
			window.Plan{Head: 1, From: 2, Used: 800, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
		{
			"not worth a summary",
			window.Problem{Sums: sums(100, 49, 800), Summarizer: true},
			window.Plan{Used: 949, Fits: true, TooBig: -1, Warning: window.High},
		},
		{
			"just worth a summary",
			window.Problem{Sums: sums(100, 50, 800), Summarizer: true},
			window.Plan{Summarize: window.Range{From: 0, To: 2}, Used: 950, Fits: true, TooBig: -1, Warning: window.High},
		},
		{
			"nothing between the opening and the newest",
			window.Problem{Sums: sums(400, 500), Summarizer: true},
			window.Plan{Used: 900, Fits: true, TooBig: -1, Warning: window.High},
		},
		{
			"what must be sent is sent, though a summary covers it",
			window.Problem{Sums: sums(100, 300, 300, 300, 100), Covered: 4, Summary: 150, Summarizer: true, Keep: 2},
			window.Plan{Head: 1, Summary: true, From: 3, Used: 650, Fits: true, TooBig: -1},
		},
		{
			"no summary of what must be sent",
			window.Problem{Sums: sums(100, 100, 300, 300, 150), Summarizer: true, Keep: 3},
			window.Plan{Summarize: window.Range{From: 0, To: 2}, Used: 950, Fits: true, TooBig: -1, Warning: window.High},
		},
		{
			"little is worth a summary if it would be left out",
			window.Problem{Sums: sums(100, 20, 20, 880), Summarizer: true},
			window.Plan{
				Head: 1, From: 3, Summarize: window.Range{From: 0, To: 3},
				Used: 980, Fits: true, TooBig: -1, Warning: window.High,
			},
		},
		{
			"the opening of two",
			window.Problem{Sums: sums(100, 100, 300, 300, 100), Opening: 2, Summarizer: true},
			window.Plan{Summarize: window.Range{From: 0, To: 4}, Used: 900, Fits: true, TooBig: -1, Warning: window.High},
		},
		{
			"a summary of the newest is not used and not continued",
			window.Problem{Sums: sums(100, 300, 300, 300, 100), Covered: 5, Summary: 5, Summarizer: true},
			window.Plan{Head: 1, From: 2, Used: 800, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
		{
			"a summary of the opening alone is not used",
			window.Problem{Sums: sums(100, 200, 200, 200, 100), Covered: 1, Summary: 900, Summarizer: true},
			window.Plan{Summarize: window.Range{From: 1, To: 3}, Used: 800, Fits: true, TooBig: -1, Warning: window.Near},
		},
		{
			"the newest is too big for any summary to help",
			window.Problem{Sums: sums(100, 400, 400, 1001), Summarizer: true},
			window.Plan{From: 4, TooBig: 3, Warning: window.Full},
		},
	} {
		c.p.Window, c.p.Reserve = 1000, -1
		assert.Equal(t, c.want, window.Summarize{}.Plan(c.p), c.name)
	}
}

// Where nobody summarises, and there is no summary, there is nothing left but to slide.
func TestSummarizeSlides(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	p := window.Problem{Sums: []int{0}, Window: 20_000, Fixed: 300}
	for i := range 500 {
		p.Sums = append(p.Sums, p.Sums[i]+r.IntN(2000))
		require.Equal(t, window.Sliding{}.Plan(p), window.Summarize{}.Plan(p))
	}
}
