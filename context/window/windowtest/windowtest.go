// Package windowtest checks implementations of [window.Manager].
package windowtest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/agonist-dev/debate/context/window"
)

// Run fails t for everything that [Check] finds.
func Run(t *testing.T, m window.Manager) {
	t.Helper()
	if err := Check(m); err != nil {
		t.Error(err)
	}
}

// Check looks whether m keeps the contract of [window.Manager], over a few hundred transcripts that are
// the same in every run, and yields what it found, each kind once, joined; nil: nothing is wrong.
func Check(m window.Manager) error {
	var f findings
	for seed := range uint64(20) {
		p := problem(seed)
		p.Window = 0
		if plan := m.Plan(p); !plan.Fits || plan.From > plan.Head || plan.Summarize != (window.Range{}) {
			f.addf("transcript %d without a limit: not everything is sent: %+v", seed, plan)
		}
	}
	for seed := range uint64(200) {
		grow(&f, m, seed)
	}
	edges(&f, m)
	if len(f.errs) == 0 {
		together(&f, m)
	}
	return errors.Join(f.errs...)
}

// findings are what is wrong, each kind once.
type findings struct {
	kinds []string
	errs  []error
}

func (f *findings) addf(kind string, args ...any) {
	if slices.Contains(f.kinds, kind) {
		return
	}
	f.kinds = append(f.kinds, kind)
	f.errs = append(f.errs, fmt.Errorf(kind, args...))
}

// grow follows a debate from its first message to its last.
func grow(f *findings, m window.Manager, seed uint64) {
	whole := problem(seed)
	kept := slices.Clone(whole.Sums)
	last := 0
	for n := range len(whole.Sums) {
		name := fmt.Sprintf("transcript %d, %d messages", seed, n)
		p := whole
		p.Sums = whole.Sums[: n+1 : n+1]
		plan := m.Plan(p)
		check(f, name, p, plan)
		if again := m.Plan(p); again != plan {
			f.addf("%s: plan %+v, then %+v", name, plan, again)
		}
		if plan.From < last {
			f.addf("%s: From went back from %d to %d", name, last, plan.From)
		}
		last = plan.From
		if !slices.Equal(kept, whole.Sums) {
			f.addf("%s: Sums was modified", name)
			return
		}
	}
}

// edges asks for plans at the ends of what a problem can say.
func edges(f *findings, m window.Manager) {
	const most = math.MaxInt
	for i, p := range []window.Problem{
		{},
		{Window: 1},
		{Sums: []int{5}, Window: 5000},
		{Sums: []int{0, 5}, Window: 1},
		{Sums: []int{0, 0, 0, 0}, Window: 4096},
		{Sums: []int{0, 0, 0, 1}, Window: 4096},
		{Sums: []int{0, 5}, Window: 9000, Fixed: most},
		{Sums: []int{0, 5}, Window: 9000, Output: most},
		{Sums: []int{0, 5, most}, Window: 9000, Reserve: -1},
		{Sums: []int{0, 5, 10}, Window: most, Reserve: -1},
	} {
		check(f, fmt.Sprintf("edge %d", i), p, m.Plan(p))
	}
}

// together asks for the same plan from several goroutines; the race detector does the rest.
func together(f *findings, m window.Manager) {
	p := problem(1)
	want := m.Plan(p)
	plans := make([]window.Plan, 8)
	var wait sync.WaitGroup
	for i := range plans {
		wait.Go(func() { plans[i] = m.Plan(p) })
	}
	wait.Wait()
	for _, got := range plans {
		if got != want {
			f.addf("at the same time: plan %+v, before %+v", got, want)
		}
	}
}

// check looks at one plan by itself.
func check(f *findings, name string, p window.Problem, plan window.Plan) {
	n := p.Len()
	if plan.Head < 0 || plan.From < plan.Head || plan.From > n {
		f.addf("%s: out of bounds: %+v", name, plan)
		return
	}
	if r := plan.Summarize; r.From < 0 || r.To < r.From || r.To > n {
		f.addf("%s: Summarize is out of bounds: %+v", name, plan)
	}
	if plan.TooBig < -1 || plan.TooBig >= n || plan.TooBig >= 0 && plan.Fits {
		f.addf("%s: TooBig is wrong: %+v", name, plan)
	}
	if !plan.Fits {
		return
	}
	limit, limited := p.Limit()
	if size := p.Fixed + p.Size(0, plan.Head) + p.Size(plan.From, n); limited && size > limit {
		f.addf("%s: %d tokens are sent, the limit is %d", name, size, limit)
	}
	if n > 0 && plan.From == n && plan.Head < n {
		f.addf("%s: the newest message is not sent", name)
	}
}

// problem yields a transcript that does not fit its window as a whole, with now and then a message
// that does not fit at all.
func problem(seed uint64) window.Problem {
	r := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // the same in every run
	p := window.Problem{
		Window:  4096 + r.IntN(20_000),
		Fixed:   r.IntN(3000),
		Reserve: r.IntN(5000) - 100,
		Output:  r.IntN(4000),
	}
	sum := r.IntN(1000)
	p.Sums = []int{sum}
	for range 30 + r.IntN(200) {
		size := r.IntN(800)
		if r.IntN(40) == 0 {
			size = r.IntN(2 * p.Window)
		}
		sum += size
		p.Sums = append(p.Sums, sum)
	}
	return p
}
