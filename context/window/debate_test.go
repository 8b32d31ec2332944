package window_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/internal/longform"
)

// strategies are all of the package, by name.
var strategies = []struct {
	name    string
	manager window.Manager
	opening bool // keeps the opening
}{
	{"Truncate", window.Truncate{}, false},
	{"Sliding", window.Sliding{}, true},
	{"Summarize", window.Summarize{}, true},
	{"Hybrid", window.Hybrid{}, true},
}

// conversation is a problem that grows, and what became of it.
type debate struct {
	window.Problem

	manager   window.Manager
	rand      *rand.Rand
	last      int // From
	moves     int // of From
	summaries int
	paid      int // tokens that were read for summaries
}

// turn adds a message and plans the request after it. Every summary that is requested is made, and is
// long: between a half and all of what it may have.
func (d *debate) turn(t *testing.T, size int) window.Plan {
	t.Helper()
	if d.Sums == nil {
		d.Sums = []int{0}
	}
	d.Sums = append(d.Sums, d.Sums[d.Len()]+size)
	for range 8 {
		plan := d.manager.Plan(d.Problem)
		if plan.Summarize == (window.Range{}) {
			require.GreaterOrEqual(t, plan.From, d.last)
			if plan.From > d.last {
				d.moves++
			}
			d.last = plan.From
			return plan
		}
		d.paid += d.Size(plan.Summarize.From, plan.Summarize.To)
		if d.Covered > 0 {
			d.paid += d.Summary
		}
		require.Equal(t, d.Covered, plan.Summarize.From)
		d.Covered, d.last = plan.Summarize.To, 0
		most := d.Window * window.SummaryPercent / 100
		d.Summary = most/2 + d.rand.IntN(most/2+1)
		d.summaries++
	}
	require.Fail(t, "no end of summaries")
	return window.Plan{}
}

// In a conversation of twenty windows, every request fits and has the opening and the newest in it; drops and
// summaries come with the tokens, not with the turns; and summaries read little more than the conversation.
func TestLongDebates(t *testing.T) {
	longform.Lone(t)
	for _, s := range strategies {
		for seed := range uint64(30) {
			r := rand.New(rand.NewPCG(seed, 11))
			d := debate{manager: s.manager, rand: r}
			d.Window = 16_384 << r.IntN(3)
			d.Fixed = 500 + r.IntN(1500)
			d.Summarizer, d.Auto = seed%3 > 0, seed%3 > 1
			limit, _ := d.Limit()
			name := fmt.Sprintf("%s, debate %d", s.name, seed)
			for d.Size(0, d.Len()) < 20*d.Window {
				plan := d.turn(t, 50+r.IntN(900))
				require.True(t, plan.Fits && plan.Used <= limit && plan.From < d.Len(), "%s: %+v", name, plan)
				require.True(t, !s.opening || plan.From == 0 || plan.Head == window.DefaultOpening, "%s: %+v", name, plan)
			}
			limits := d.Size(0, d.Len()) / limit
			require.Greater(t, limits, 20)
			most := map[string]int{"Truncate": 4, "Sliding": 4, "Summarize": 5, "Hybrid": 5}[s.name]
			assert.LessOrEqual(t, d.moves, most*limits, name)
			assert.LessOrEqual(t, d.summaries, 5*limits, name)
			assert.LessOrEqual(t, d.paid, 2*d.Size(0, d.Len()), name)
			wants := d.Summarizer && (s.name == "Summarize" || s.name == "Hybrid")
			assert.Equal(t, wants, d.summaries > 0, name)
			assert.GreaterOrEqual(t, d.moves, limits, name)
		}
	}
}

// The warning is the gravest that is true, by what there is to send.
func TestWarnings(t *testing.T) {
	for _, s := range strategies {
		seen := map[window.Warning]int{}
		for seed := range uint64(20) {
			r := rand.New(rand.NewPCG(seed, 12))
			d := debate{manager: s.manager, rand: r}
			d.Window, d.Reserve, d.Fixed = 10_000, -1, r.IntN(500)
			d.Summarizer = seed%2 > 0
			for range 80 {
				size := 50 + r.IntN(400)
				if r.IntN(40) == 0 {
					size = 11_000
				}
				plan := d.turn(t, size)
				use, left := d.Fixed+d.Size(0, d.Len()), plan.From-plan.Head
				if plan.Summary {
					use, left = d.Fixed+d.Size(0, 1)+d.Summary+d.Size(d.Covered, d.Len()), plan.From-d.Covered
				}
				var want window.Warning
				switch {
				case !plan.Fits:
					want = window.Full
				case left > 0:
					want = window.Dropped
				case use >= 9000:
					want = window.High
				case use >= 8000:
					want = window.Near
				}
				require.Equal(t, want, plan.Warning, "%s, debate %d: %+v", s.name, seed, plan)
				seen[want]++
			}
		}
		for _, w := range []window.Warning{"", window.Near, window.High, window.Dropped, window.Full} {
			assert.Positive(t, seen[w], "%s, %q", s.name, w)
		}
	}
}

// A cut leaves at least 60 % of the limit less the prompt filled, or what it left out last does not fit.
func TestACutLeavesTheRoomFilled(t *testing.T) {
	for _, s := range strategies {
		cuts := 0
		for seed := range uint64(300) {
			r := rand.New(rand.NewPCG(seed, 14))
			d := debate{manager: s.manager, rand: r}
			d.Window, d.Reserve, d.Fixed = 2048+r.IntN(9000), -1, 300+r.IntN(700)
			limit, _ := d.Limit()
			unit, typical := limit/16, 100+r.IntN(600)
			for range 60 {
				plan := d.turn(t, typical/2+r.IntN(typical))
				if plan.From == plan.Head || s.opening && plan.Head == 0 {
					continue // nothing is left out, or the opening too, for the newest
				}
				cuts++
				next := d.Size(plan.From-1, plan.From)
				require.True(t, 100*(plan.Used-d.Fixed) >= window.LowWaterPercent*(limit-d.Fixed) || plan.Used+next+unit > limit,
					"%s, debate %d: %d of %d, %+v", s.name, seed, plan.Used, limit, plan)
			}
		}
		assert.Greater(t, cuts, 3000, s.name)
	}
}

// Two who speak by turns each find the beginning of their last request again, in at least seven pairs of ten of a
// debate of 20 turns that does not fit.
func TestTheBeginningStaysTheSame(t *testing.T) {
	for _, manager := range []window.Manager{window.Sliding{}, window.Hybrid{}} {
		same, pairs := 0, 0
		for seed := range uint64(60) {
			r := rand.New(rand.NewPCG(seed, 15))
			d := debate{manager: manager, rand: r}
			d.Window, d.Fixed, d.Sums = 8192, 500+r.IntN(500), []int{0}
			plans := []window.Plan{manager.Plan(d.Problem)}
			for range 19 {
				d.Fixed += r.IntN(100) - 50
				d.Sums = append(d.Sums, d.Sums[d.Len()]+110+r.IntN(220))
				plans = append(plans, manager.Plan(d.Problem))
			}
			if plans[19].From == 0 {
				continue // all of it fits
			}
			for i := 2; i < len(plans); i++ {
				pairs++
				if plans[i].From == plans[i-2].From && plans[i].Head == plans[i-2].Head {
					same++
				}
			}
		}
		require.Greater(t, pairs, 500)
		assert.GreaterOrEqual(t, 100*same, 70*pairs, "%T: %d of %d", manager, same, pairs)
	}
}

// Instructions differ from call to call; that must not move the cut.
func TestInstructionsDoNotMoveTheCut(t *testing.T) {
	for _, s := range strategies[:3] {
		r := rand.New(rand.NewPCG(5, 6))
		d := debate{manager: s.manager, rand: r}
		d.Window = 104_096
		for range 2000 {
			d.Fixed = 700 + r.IntN(900)
			d.turn(t, 200+r.IntN(600))
		}
		assert.InDelta(t, float64(d.Size(0, d.Len()))/(0.4*98_000), d.moves, 3, s.name)
	}
}

// When everything fits, only the ends of the sums are read: a long conversation costs no more than a short one.
func TestNothingWalks(t *testing.T) {
	p := window.Problem{Sums: make([]int, 100_001), Window: 1_000_000, Summarizer: true, Auto: true}
	for i := range p.Sums {
		p.Sums[i] = -1 << 40
	}
	p.Sums[0], p.Sums[1], p.Sums[100_000] = 0, 5, 500_000
	long := p
	long.Sums = sums(make([]int, 100_000)...)
	for i := range long.Sums {
		long.Sums[i] = 500 * i
	}
	for _, s := range strategies {
		assert.Equal(t, window.Plan{Used: 500_000, Fits: true, TooBig: -1}, s.manager.Plan(p), s.name)
		assert.Zero(t, testing.AllocsPerRun(10, func() { s.manager.Plan(long) }), s.name)
	}
}

// Without a limit everything is sent, whatever else the problem says.
func TestNoLimit(t *testing.T) {
	p := window.Problem{
		Sums: sums(1e6, 1e9, 1, 1), Fixed: 5,
		Covered: 2, Summary: 10, Summarizer: true, Auto: true,
	}
	for _, s := range strategies {
		assert.Equal(t, window.Plan{Used: 1e6 + 1e9 + 7, Fits: true, TooBig: -1}, s.manager.Plan(p), s.name)
	}
}

// Whoever counts less than nothing has counted nothing: it makes no room.
func TestLessThanNothing(t *testing.T) {
	p := window.Problem{
		Sums: sums(100, 300, 300, 300), Window: 900, Reserve: -1,
		Fixed: -500, Covered: 2, Summary: -400,
	}
	for _, s := range strategies {
		bad := s.manager.Plan(p)
		good := p
		good.Fixed, good.Summary = 0, 0
		assert.Equal(t, s.manager.Plan(good), bad, s.name)
		assert.Positive(t, bad.From, s.name)
	}
}

// A share that is not a whole number of tokens is reached by the next one.
func TestThresholdsAreReachedFromBelow(t *testing.T) {
	for use, want := range map[int]window.Warning{800: "", 801: window.Near, 900: window.Near, 901: window.High} {
		plan := window.Sliding{}.Plan(window.Problem{Sums: sums(use), Window: 1001, Reserve: -1})
		assert.Equal(t, want, plan.Warning, "%d of 1001", use)
	}
}
