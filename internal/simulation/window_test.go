package simulation_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

var windowSeeds = flag.Uint64("sim.windows", longform.Or[uint64](1_000, 30), "how many seeds TestSimulationOfWindows plays")

// TestSimulationOfWindows plays debates of every sort in small windows. A judge reads the whole round that it assesses, and
// for the verdict each round, whole or summarised. Where that is impossible the outcome names exactly what was not read, and
// the request says so to the judge. No request is larger than its window.
func TestSimulationOfWindows(t *testing.T) {
	sum := &judged{}
	for seed := range *windowSeeds / uint64(raceFewer()) {
		dice := rand.New(rand.NewPCG(seed, 20))
		config := stage.TwoDebaters()
		config.Format = []string{format.FreeForm, format.RoundLimited, format.StructuredRounds}[dice.IntN(3)]
		config.Rounds, config.Unattended = 2+dice.IntN(9), true
		config.Mode = []debate.Mode{debate.Sequential, debate.Simultaneous}[dice.IntN(2)]
		config.Context = []string{"", flow.ContextTruncate, flow.ContextSliding, flow.ContextSummarize}[dice.IntN(4)]
		config.Summarizer = []string{"", "", flow.NoSummarizer, "test/minutes"}[dice.IntN(4)]
		config.AutoSummary = config.Summarizer == "test/minutes" && dice.IntN(2) == 0
		config.MaxTokens = 300 + dice.IntN(500)
		config.Reserve = config.MaxTokens + dice.IntN(300)
		config.Judging.Anonymous = dice.IntN(3) == 0
		config.Judging.BothOrders = dice.IntN(4) == 0
		if dice.IntN(3) == 0 {
			config.Judging.Judges = append(config.Judging.Judges, debate.JudgeConfig{Model: "test/other"})
		}
		if dice.IntN(3) == 0 {
			config.Participants = append(config.Participants, debate.Participant{Name: "Cem", Side: debate.For, Model: "test/other"})
		}
		size := config.Reserve + 2000 + dice.IntN(4000)
		n := newNarrow(seed, config, size)
		n.minutes = 1 + dice.IntN(config.MaxTokens)
		if dice.IntN(3) == 0 {
			n.talk = func(dice *rand.Rand) int { return []int{1, 40, config.MaxTokens - 30}[dice.IntN(3)] }
		}
		name := fmt.Sprintf("seed %d: window %d, reserve %d, %s, %s, %d participants, %d rounds, context %q, summarizer %q", seed,
			size, config.Reserve, config.Format, config.Mode, len(config.Participants), config.Rounds, config.Context, config.Summarizer)
		d := n.play(t)
		n.judged(t, d, sum, name)
		for _, req := range n.script.Requests() {
			assert.LessOrEqual(t, n.sent(&req), size-config.Reserve, "%s: %s", name, req.ID)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d assessments, %d of their whole round; %d verdicts, %d of every round; %d rest on a part, of which the outcome names all but %d",
		sum.assessments, sum.whole, sum.verdicts, sum.complete, sum.gaps, sum.unsaid)
	assert.Zero(t, sum.unsaid)
	if *windowSeeds >= 100 && raceFewer() == 1 {
		assert.Positive(t, sum.gaps, "the simulation no longer meets one")
	}
}

func raceFewer() int { return longform.Sized(1, 1, 10) }

// cut reports whether a request says that something is left out.
func cut(req *provider.Request) bool { return strings.Contains(req.Last.Text, "left out above") }

var windowDebates = flag.Uint64("sim.debates", longform.Or[uint64](60, 6), "how many debates TestFiguresOfWindows plays for each window")

// TestFiguresOfWindows prints what debates of 20 turns are judged by in small windows, with the defaults of a config. The
// figures are those of docs/internal/windows.md.
func TestFiguresOfWindows(t *testing.T) {
	longform.Lone(t)
	debates := *windowDebates
	for _, test := range []struct {
		window, reserve int // 0: the default
		maxTokens       int
		whole           bool // all of it must be read
	}{
		{window: 8192, whole: true},
		{window: 6144},
		{window: 4096, reserve: 1024, maxTokens: 1024},
	} {
		sum, pairs := &judged{}, &prefixes{}
		turns := map[string]int{}
		for seed := range debates {
			config := stage.TwoDebaters()
			config.Format, config.Rounds, config.Unattended = format.FreeForm, 10, true
			config.Reserve, config.MaxTokens = test.reserve, test.maxTokens
			n := newNarrow(seed, config, test.window)
			n.talk = func(dice *rand.Rand) int { return 150 + dice.IntN(150) }
			n.minutes = 200
			d := n.play(t)
			n.judged(t, d, sum, fmt.Sprintf("window %d, seed %d", test.window, seed))
			pairs.count(n.script.Requests(), "Ada", "Ben")
			_, short := missing(d, n.requestOf(t, d.Verdict.Spend), d.Readable())
			for _, turn := range d.Turns {
				if !slices.Contains(short, turn.Call) {
					turns[turn.Speaker]++
				}
			}
		}
		t.Logf("window %d, reserve %d: whole rounds %d of %d assessments, every round %d of %d verdicts, named %d of %d parts; "+
			"of whole turns, verdicts read %d of Ada and %d of Ben; prefixes kept: %s", test.window, test.reserve,
			sum.whole, sum.assessments, sum.complete, sum.verdicts, sum.gaps-sum.unsaid, sum.gaps, turns["Ada"], turns["Ben"], pairs)
		assert.Zero(t, sum.unsaid)
		if test.whole {
			assert.Equal(t, sum.assessments, sum.whole)
			assert.Equal(t, sum.verdicts, sum.complete)
			assert.InDelta(t, turns["Ada"], turns["Ben"], float64(debates), "verdicts read as much of one side as of the other")
		}
		assert.Equal(t, pairs.uncut, pairs.uncutKept)
		if test.whole {
			assert.GreaterOrEqual(t, 100*(pairs.uncutKept+pairs.cutKept), 65*(pairs.uncut+pairs.cut))
		}
	}
}

// prefixes count the pairs of requests that one speaker makes one after the other, and those of which the second begins
// with at least 99 % of the first, its last message aside.
type prefixes struct{ uncut, uncutKept, cut, cutKept int }

func (p *prefixes) count(requests []provider.Request, names ...string) {
	for _, name := range names {
		before := ""
		for i := range requests {
			req := &requests[i]
			if req.Self != name {
				continue
			}
			var b strings.Builder
			kept := *req
			kept.Last = provider.Message{}
			for role, text := range kept.Chat() {
				b.WriteString(string(role) + "\x00" + text + "\x00")
			}
			now := b.String()
			common := 0
			for common < min(len(before), len(now)) && before[common] == now[common] {
				common++
			}
			all, same := &p.uncut, &p.uncutKept
			if cut(req) {
				all, same = &p.cut, &p.cutKept
			}
			if before != "" {
				*all++
				if 100*common >= 99*len(before) {
					*same++
				}
			}
			before = now
		}
	}
}

func (p *prefixes) String() string {
	return fmt.Sprintf("%d of %d pairs without a cut, %d of %d with one", p.uncutKept, p.uncut, p.cutKept, p.cut)
}
