package window_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/context/window"
)

// FuzzPlan gives every strategy problems that make sense, and the same with sums that make none.
func FuzzPlan(f *testing.F) {
	f.Add([]byte{1, 2, 255}, 10, 4200, 0, 0, 0, 0, true, true)
	f.Add([]byte{9, 9, 9, 9}, 0, 900, -1, 0, 2, 100, true, false)
	f.Add([]byte{9, 9, 9, 9, 9, 9, 9}, 0, 900, -1, 0, 3, 100, false, true)
	f.Add([]byte{50, 1, 1, 50}, 1, 1001, -1, 0, 3, 1, true, true)
	f.Add([]byte{}, -1, 1, -1, 1<<62, 1, 1, false, true)
	f.Add([]byte{9, 9, 9, 9}, 1<<62, 1<<62, 1, -5, -1, -1, true, true)
	f.Add([]byte{9, 200, 9, 9}, math.MaxInt, math.MaxInt, math.MinInt, math.MinInt, math.MaxInt, math.MaxInt, true, true)
	f.Fuzz(func(t *testing.T, sizes []byte, fixed, size, reserve, output, covered, summary int, summarizer, auto bool) {
		p := window.Problem{
			Sums: []int{3}, Fixed: fixed, Window: size, Reserve: reserve, Output: output,
			Covered: covered, Summary: summary, Summarizer: summarizer, Auto: auto,
		}
		wild := p
		wild.Sums = []int{math.MinInt}
		for i, b := range sizes {
			p.Sums = append(p.Sums, p.Sums[i]+int(b)*20)
			wild.Sums = append(wild.Sums, wild.Sums[i]+int(b)<<55)
		}
		for _, s := range strategies {
			plan := s.manager.Plan(wild)
			require.True(t, 0 <= plan.Head && plan.Head <= plan.From && plan.From <= wild.Len(), "%s: %+v", s.name, plan)
			requireSound(t, p, s.manager.Plan(p), s.opening)
			p.Summarizer = false
			require.Zero(t, s.manager.Plan(p).Summarize, s.name)
			p.Summarizer = summarizer
		}
	})
}

// requireSound looks at a plan for a problem whose sums do not fall.
func requireSound(t *testing.T, p window.Problem, plan window.Plan, opening bool) {
	t.Helper()
	n, newest := p.Len(), p.Len()-1
	p.Fixed, p.Summary = max(p.Fixed, 0), max(p.Summary, 0)
	require.True(t, 0 <= plan.Head && plan.Head <= plan.From && plan.From <= n, "%+v", plan)
	limit, limited := p.Limit()
	if !limited {
		require.True(t, plan.Fits && plan.From == 0 && !plan.Summary && plan.Summarize == window.Range{}, "%+v", plan)
		return
	}
	fits := p.Fixed <= limit && p.Size(newest, n) <= limit-p.Fixed
	require.Equal(t, fits, plan.Fits, "what can be sent is sent: %+v", plan)
	if plan.Summarize != (window.Range{}) {
		require.True(t, plan.Fits && p.Summarizer, "%+v", plan)
		require.Equal(t, max(p.Covered, 0), plan.Summarize.From)
		require.Greater(t, plan.Summarize.To, plan.Summarize.From)
		require.LessOrEqual(t, plan.Summarize.To, newest)
	}
	if !plan.Fits {
		return
	}
	used := p.Fixed + p.Size(0, plan.Head) + p.Size(plan.From, n)
	if plan.Summary {
		require.Positive(t, p.Covered)
		require.GreaterOrEqual(t, plan.From, p.Covered)
		used += p.Summary
	}
	require.Equal(t, used, plan.Used)
	require.LessOrEqual(t, plan.Used, limit)
	require.True(t, n == 0 || plan.From < n, "the newest message is sent: %+v", plan)
	if n > 1 && opening && p.Size(0, 1)+p.Size(newest, n) <= limit-p.Fixed {
		require.True(t, plan.From == 0 || plan.Head == window.DefaultOpening || plan.Summary, "the opening is sent: %+v", plan)
	}
}
