package window_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/context/window/windowtest"
)

func ExampleSliding() {
	sums := []int{0}
	for range 30 {
		sums = append(sums, sums[len(sums)-1]+500)
		plan := window.Sliding{}.Plan(window.Problem{Sums: sums, Window: 12_000})
		if n := len(sums) - 1; n%5 == 0 {
			fmt.Printf("%d messages: the first %d and from %d, %d tokens\n", n, plan.Head, plan.From, plan.Used)
		}
	}
	// Output:
	// 5 messages: the first 0 and from 0, 2500 tokens
	// 10 messages: the first 0 and from 0, 5000 tokens
	// 15 messages: the first 0 and from 0, 7500 tokens
	// 20 messages: the first 1 and from 6, 7500 tokens
	// 25 messages: the first 1 and from 11, 7500 tokens
	// 30 messages: the first 1 and from 16, 7500 tokens
}

func TestSlidingKeepsTheContract(t *testing.T) { windowtest.Run(t, window.Sliding{}) }

func TestSliding(t *testing.T) {
	for _, c := range []struct {
		name string
		p    window.Problem
		want window.Plan
	}{
		{"nothing", window.Problem{}, window.Plan{Fits: true, TooBig: -1}},
		{
			"the opening alone",
			window.Problem{Sums: sums(700)},
			window.Plan{Used: 700, Fits: true, TooBig: -1},
		},
		{
			"to the last token",
			window.Problem{Sums: sums(100, 300, 300, 300)},
			window.Plan{Used: 1000, Fits: true, TooBig: -1, Warning: window.High},
		},
		{
			"one token over",
			window.Problem{Sums: sums(100, 300, 300, 300, 1)},
			window.Plan{Head: 1, From: 2, Used: 701, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
		{
			"a part of the sums",
			window.Problem{Sums: sums(9999, 100, 300, 300, 300, 1)[1:]},
			window.Plan{Head: 1, From: 2, Used: 701, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
		{
			"a summary is not used",
			window.Problem{Sums: sums(100, 300, 300, 300, 1), Covered: 3, Summary: 5, Summarizer: true, Auto: true},
			window.Plan{Head: 1, From: 2, Used: 701, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
		{
			"no place for the opening beside the newest",
			window.Problem{Sums: sums(500, 100, 501)},
			window.Plan{From: 2, Used: 501, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
		{
			"the opening comes back",
			window.Problem{Sums: sums(500, 100, 501, 10)},
			window.Plan{Head: 1, From: 3, Used: 510, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
		{
			"no place for the opening at all",
			window.Problem{Sums: sums(1001, 300, 300)},
			window.Plan{From: 1, Used: 600, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
		{
			"no place for the opening beside the prompt",
			window.Problem{Sums: sums(950, 300, 300), Fixed: 100},
			window.Plan{From: 1, Used: 700, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
		{
			"the opening and nothing else",
			window.Problem{Sums: sums(1000, 300, 0)},
			window.Plan{Head: 1, From: 2, Used: 1000, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
		{
			"an opening of two",
			window.Problem{Sums: sums(100, 100, 300, 300, 300, 1), Opening: 2},
			window.Plan{Head: 2, From: 3, Used: 801, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
		{
			"what must be sent",
			window.Problem{Sums: sums(100, 300, 200, 300, 200), Keep: 3},
			window.Plan{Head: 1, From: 2, Used: 800, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
		{
			"what must be sent leaves no place for the opening",
			window.Problem{Sums: sums(301, 300, 200, 300, 200), Keep: 3},
			window.Plan{From: 2, Used: 700, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
		{
			"what must be sent is partly the opening",
			window.Problem{Sums: sums(300, 300, 300, 50), Opening: 3, Keep: 3},
			window.Plan{Used: 950, Fits: true, TooBig: -1, Warning: window.High},
		},
		{
			"what must be sent does not fit: the newest of it",
			window.Problem{Sums: sums(100, 300, 400, 500, 200), Keep: 3},
			window.Plan{From: 3, Used: 700, Fits: true, TooBig: -1, Warning: window.Dropped},
		},
		{
			"the newest is too big",
			window.Problem{Sums: sums(300, 300, 1001)},
			window.Plan{From: 3, TooBig: 2, Warning: window.Full},
		},
		{
			"the prompt is too big",
			window.Problem{Sums: sums(300, 300), Fixed: 1001},
			window.Plan{From: 2, Used: 1001, TooBig: -1, Warning: window.Full},
		},
	} {
		c.p.Window, c.p.Reserve = 1000, -1
		assert.Equal(t, c.want, window.Sliding{}.Plan(c.p), c.name)
	}
}
