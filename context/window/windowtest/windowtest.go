// Package windowtest tests implementations of [window.Manager].
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

// Rounds is how many summaries, one after the other, a manager may request before one request.
const Rounds = 16

// Run fails t with everything that [Check] finds.
func Run(t *testing.T, m window.Manager) {
	t.Helper()
	if err := Check(m); err != nil {
		t.Error(err)
	}
}

// Check tests whether m keeps the contract of [window.Manager]. It returns what it found, joined, each
// kind of fault once; nil: nothing is wrong. The transcripts, a few hundred, are the same in every run.
//
// Check asks for plans from the first message of a transcript to its last, with and without a model that
// summarises. It makes the summaries that are requested: each has at most [window.SummaryPercent] of the
// window, and after at most [Rounds] of them the manager must plan the request. It also asks with numbers
// that make no sense. A panic is reported like any other fault.
func Check(m window.Manager) error {
	f := &findings{manager: m}
	for seed := range uint64(20) {
		unlimited(f, seed)
	}
	for seed := range uint64(transcripts) {
		grow(f, seed)
		summarise(f, seed)
	}
	edges(f)
	hostile(f)
	if len(f.errs) == 0 {
		together(f)
	}
	return errors.Join(f.errs...)
}

// findings are the faults of a manager, each kind once.
type findings struct {
	manager window.Manager
	kinds   []string
	errs    []error
}

func (f *findings) addf(kind string, args ...any) {
	if slices.Contains(f.kinds, kind) {
		return
	}
	f.kinds = append(f.kinds, kind)
	f.errs = append(f.errs, fmt.Errorf(kind, args...))
}

// plan asks the manager for a plan. If it panics, that is a finding, and the plan sends nothing.
func (f *findings) plan(name string, p window.Problem) (plan window.Plan) {
	defer func() {
		if cause := recover(); cause != nil {
			f.addf("%s: panics: %v", name, cause)
			plan = window.Plan{From: p.Len(), TooBig: -1}
		}
	}()
	return f.manager.Plan(p)
}

// unlimited asks for a plan without a limit. Everything must be sent, even if there is a summary and a
// model for more.
func unlimited(f *findings, seed uint64) {
	p := problem(seed)
	p.Window = 0
	p.Covered, p.Summary, p.Summarizer, p.Auto = 5, 100, true, true
	name := fmt.Sprintf("transcript %d without a limit", seed)
	plan := f.plan(name, p)
	if !plan.Fits || plan.From > plan.Head || plan.Summary || plan.Summarize != (window.Range{}) {
		f.addf("%s: not everything is sent: %+v", name, plan)
	}
}

// grow follows a conversation without summaries from its first message to its last.
func grow(f *findings, seed uint64) {
	whole := problem(seed)
	kept := slices.Clone(whole.Sums)
	last := 0
	for n := range len(whole.Sums) {
		name := fmt.Sprintf("transcript %d, %d messages", seed, n)
		p := whole
		p.Sums = whole.Sums[: n+1 : n+1]
		plan := f.plan(name, p)
		check(f, name, p, plan)
		if again := f.plan(name, p); again != plan {
			f.addf("%s: plan %+v, then %+v", name, plan, again)
		}
		if plan.From < last {
			f.addf("%s: From went back from %d to %d", name, last, plan.From)
		}
		last = plan.From
		if !keeps(&p) {
			last = 0
		}
		if !slices.Equal(kept, whole.Sums) {
			f.addf("%s: Sums was modified", name)
			return
		}
	}
}

// summarise follows a conversation in which summaries are made. Every second conversation loses the model for it
// halfway.
func summarise(f *findings, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 8)) //nolint:gosec // the same in every run
	whole := problem(seed)
	whole.Summarizer, whole.Auto = true, seed%4 < 2
	last := 0
	for n := range len(whole.Sums) {
		if seed%2 == 0 && n == len(whole.Sums)/2 {
			whole.Summarizer, last = false, 0
		}
		name := fmt.Sprintf("transcript %d with summaries, %d messages", seed, n)
		p := whole
		p.Sums = whole.Sums[: n+1 : n+1]
		plan := finalPlan(f, name, &p, r)
		if p.Covered != whole.Covered {
			last = 0
		}
		if plan.From < last {
			f.addf("%s: From went back from %d to %d though nothing was summarised", name, last, plan.From)
		}
		last = plan.From
		if !keeps(&p) {
			last = 0
		}
		whole.Covered, whole.Summary = p.Covered, p.Summary
	}
}

// finalPlan makes summaries as long as they are requested, and returns the plan of the request.
func finalPlan(f *findings, name string, p *window.Problem, r *rand.Rand) window.Plan {
	made := false
	for range Rounds + 1 {
		plan := f.plan(name, *p)
		check(f, name, *p, plan)
		if made && !plan.Fits {
			f.addf("%s: with a summary of %d tokens the request does not fit: %+v", name, p.Summary, plan)
		}
		if plan.Summarize == (window.Range{}) {
			return plan
		}
		if plan.Summarize.To <= p.Covered { // also found by check; it would never end
			return plan
		}
		without := *p
		without.Summarizer = false
		check(f, name+", without it", without, f.plan(name, without))
		made = true
		p.Covered, p.Summary = plan.Summarize.To, r.IntN(p.Window*window.SummaryPercent/100+1)
	}
	f.addf("%s: after %d summaries one more is requested", name, Rounds)
	return window.Plan{From: p.Len()}
}

// edges asks for plans with the extreme values of a problem.
func edges(f *findings) {
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
		{Sums: []int{0, 5, most}, Window: 9000, Reserve: -1, Fixed: 100},
		{Sums: []int{0, 5, 10}, Window: most, Reserve: -1},
		{Sums: []int{0, 5, most}, Window: most, Reserve: -1, Fixed: most},
		{Sums: []int{0, 0, 0, 0}, Window: 4096, Covered: 2},
		{Sums: []int{0, 500, 4000, 4900}, Window: 9000, Covered: 2, Summary: most},
		{Sums: []int{0, 4900, 4904, 4905}, Window: 9000, Covered: 2, Summary: 4},
		{Sums: []int{0, 1, 2, 4900}, Window: 9000, Covered: 2, Summary: 5},
	} {
		for _, p.Summarizer = range []bool{false, true} {
			for _, p.Auto = range []bool{false, true} {
				name := fmt.Sprintf("edge %d", i)
				check(f, name, p, f.plan(name, p))
			}
		}
	}
}

// hostile asks with numbers that make no sense. The plan must be within bounds; nothing else is expected
// of it.
func hostile(f *findings) {
	const least, most = math.MinInt, math.MaxInt
	numbers := []int{least, least + 1, -5, 0, 1, 3, 5000, most - 1, most}
	r := rand.New(rand.NewPCG(3, 9)) //nolint:gosec // the same in every run
	pick := func() int { return numbers[r.IntN(len(numbers))] }
	for i := range problems {
		p := window.Problem{
			Fixed: pick(), Window: pick(), Reserve: pick(), Output: pick(), Covered: pick(), Summary: pick(),
			Summarizer: i%2 == 0, Auto: i%3 == 0, Opening: pick(), Keep: pick(),
		}
		for range r.IntN(8) {
			p.Sums = append(p.Sums, pick())
		}
		name := fmt.Sprintf("numbers without sense, %d", i)
		bounds(f, name, p, f.plan(name, p))
	}
}

// together asks for the same plan from several goroutines. The race detector does the rest.
func together(f *findings) {
	p := problem(1)
	p.Covered, p.Summary, p.Summarizer = 5, 100, true
	want := f.manager.Plan(p)
	plans := make([]window.Plan, 8)
	var wait sync.WaitGroup
	for i := range plans {
		wait.Go(func() { plans[i] = f.manager.Plan(p) })
	}
	wait.Wait()
	for _, got := range plans {
		if got != want {
			f.addf("at the same time: plan %+v, before %+v", got, want)
		}
	}
}

// bounds checks whether a plan can be carried out at all.
func bounds(f *findings, name string, p window.Problem, plan window.Plan) bool {
	n := p.Len()
	if plan.Head < 0 || plan.From < plan.Head || plan.From > n {
		f.addf("%s: out of bounds: %+v", name, plan)
		return false
	}
	if r := plan.Summarize; r.From < 0 || r.To < r.From || r.To > n {
		f.addf("%s: Summarize is out of bounds: %+v", name, plan)
		return false
	}
	if plan.TooBig < -1 || plan.TooBig >= n || plan.TooBig >= 0 && plan.Fits {
		f.addf("%s: TooBig is wrong: %+v", name, plan)
	}
	return true
}

// check checks one plan by itself.
func check(f *findings, name string, p window.Problem, plan window.Plan) {
	if !bounds(f, name, p, plan) {
		return
	}
	requested(f, name, p, plan)
	if !plan.Fits {
		return
	}
	n := p.Len()
	parts := []int{p.Fixed, p.Size(0, plan.Head), p.Size(plan.From, n)}
	if plan.Summary {
		parts = append(parts, p.Summary)
		if p.Covered <= 0 || plan.From < min(p.Covered, kept(&p)) {
			f.addf("%s: a summary of %d messages is sent before message %d", name, p.Covered, plan.From)
		}
	}
	limit, limited := p.Limit()
	left := limit // part by part, because their sum may overflow an int
	for _, part := range parts {
		if limited && part > left {
			f.addf("%s: %d tokens are sent, the limit is %d", name, parts, limit)
			return
		}
		left -= part
	}
	if limited && plan.Used != limit-left {
		f.addf("%s: %d tokens are sent, Used is %d", name, parts, plan.Used)
	}
	if n > 0 && plan.From == n && plan.Head < n {
		f.addf("%s: the newest message is not sent", name)
	}
	if plan.From > max(kept(&p), plan.Head) && keeps(&p) {
		f.addf("%s: messages are left out that must be sent: %+v", name, plan)
	}
}

// requested checks which messages the plan wants summarised.
func requested(f *findings, name string, p window.Problem, plan window.Plan) {
	r := plan.Summarize
	if r == (window.Range{}) {
		return
	}
	if !p.Summarizer {
		f.addf("%s: a summary is requested, but there is no model to make it: %+v", name, plan)
	}
	if !plan.Fits {
		f.addf("%s: a summary is requested, but there is no plan to send without it: %+v", name, plan)
	}
	if r.From != p.Covered {
		f.addf("%s: a summary is requested from message %d on, it has to begin at %d", name, r.From, p.Covered)
	}
	if r.From == r.To || r.To >= p.Len() {
		f.addf("%s: a summary is requested of nothing, or of the newest message: %+v", name, plan)
	}
	if r.To > max(kept(&p), p.Covered) {
		f.addf("%s: a summary is requested of messages that must be sent: %+v", name, plan)
	}
}

// kept returns the index of the first message that must be sent.
func kept(p *window.Problem) int { return max(p.Len()-max(p.Keep, 1), 0) }

// keeps reports whether the messages that must be sent fit.
func keeps(p *window.Problem) bool {
	limit, limited := p.Limit()
	return !limited || p.Fixed <= limit && p.Size(kept(p), p.Len()) <= limit-p.Fixed
}

// problem returns a transcript that does not fit its window as a whole. Now and then a single message
// does not fit either.
func problem(seed uint64) window.Problem {
	r := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // the same in every run
	p := window.Problem{
		Window:  4096 + r.IntN(20_000),
		Fixed:   r.IntN(3000),
		Reserve: r.IntN(5000) - 100,
		Output:  r.IntN(4000),
		Opening: r.IntN(4),
		Keep:    r.IntN(4),
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
