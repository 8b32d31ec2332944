package deliberation_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// sized answers free text with texts of a size that depends on the call alone.
func sized(size func(call string) int) answers {
	return func(call string, req *provider.Request) (scripted.Reply, bool) {
		if req.Schema != nil {
			return scripted.Reply{}, false
		}
		text := said(call)
		return scripted.Reply{Text: text + strings.Repeat(" ü word", max(0, size(call)-len(text))/7)}, true
	}
}

// input plays a deliberation and counts the characters of all prompts.
func input(t testing.TB, config deliberation.Config, own answers) (characters int, r *flow.Record) {
	t.Helper()
	engine, p := engineFor(own)
	r = play(t, engine, config)
	for _, req := range p.Requests() {
		characters += utf8.RuneCountInString(req.System) + utf8.RuneCountInString(req.Last.Text)
	}
	return characters, r
}

// TestSummariesNeverCostMoreThanTheySave: over random sizes and settings the prompts with summaries have at most as
// many characters as those without. If the judge may end the rounds early, it is not known how often a summary is read:
// they may then have a little more.
func TestSummariesNeverCostMoreThanTheySave(t *testing.T) {
	made, saved, none := 0, 0, 0
	for seed := range uint64(90 / fewer) {
		rng := rand.New(rand.NewPCG(seed, 1))
		config := three()
		config.Rounds = 1 + rng.IntN(8)
		config.Problem += strings.Repeat(" More of it.", rng.IntN(200))
		config.Synthesis = []string{"judge", "voting", "merge"}[rng.IntN(3)]
		config.Proposals = []string{"carry", "fresh"}[rng.IntN(2)]
		config.Topology.Kind = []string{"all", "ring"}[rng.IntN(2)]
		config.Termination.Kind = []string{"fixed", "convergence", "quality"}[rng.IntN(3)]
		config.Summaries = deliberation.Summaries{Threshold: 1 + rng.IntN(6000), MaxLength: 100 + rng.IntN(3000)}
		config.FullHistory = []*bool{nil, new(true), new(false)}[rng.IntN(3)]
		if config.FullHistory != nil && !*config.FullHistory {
			config.Summaries = deliberation.Summaries{}
		}
		ends := 1 + rng.IntN(8)
		most := 1 + rng.IntN(4000)
		own := func(call string, req *provider.Request) (scripted.Reply, bool) {
			if strings.HasSuffix(call, ".evaluate") {
				given := make([]float64, ends)
				given[ends-1] = 100
				return numbers(given...)(call, req)
			}
			h := uint64(len(call)) + seed*31
			for _, c := range call {
				h = h*31 + uint64(c)
			}
			return sized(func(string) int { return int(h % uint64(most)) })(call, req)
		}
		on, r := input(t, config, own)
		summaries := len(view(r).Summaries())
		config.Summaries = deliberation.Summaries{Off: true}
		off, _ := input(t, config, own)
		bound := 1.0
		if config.Termination.Kind != deliberation.TerminationFixed {
			bound = 1.05
		}
		require.LessOrEqual(t, float64(on), bound*float64(off), "seed %d: %d summaries", seed, summaries)
		made += summaries
		if on < off {
			saved++
		}
		if summaries == 0 {
			none++
			require.Equal(t, off, on)
		}
	}
	assert.Greater(t, made, 40/fewer, "there are summaries to speak of")
	assert.Greater(t, saved, 6/fewer)
	assert.Greater(t, none, 3/fewer)
}

// TestNothingOfAHistoryIsLost: whatever an agent was part of stands in the prompt of its refinement, or in that of one of
// the summaries before.
func TestNothingOfAHistoryIsLost(t *testing.T) {
	summaries, checked := 0, 0
	for seed := range uint64(60 / fewer) {
		rng := rand.New(rand.NewPCG(seed, 2))
		config := three()
		config.Rounds = 4 + rng.IntN(4)
		config.Proposals = []string{"carry", "fresh"}[rng.IntN(2)]
		config.FullHistory = []*bool{nil, new(true)}[rng.IntN(2)]
		config.Summaries = deliberation.Summaries{Threshold: 1 + rng.IntN(9000), MaxLength: 100 + rng.IntN(1000)}
		var fails []string // Ada is left out now and then
		for n := 1; n <= config.Rounds; n++ {
			switch rng.IntN(6) {
			case 0:
				fails = append(fails, fmt.Sprintf("r%d.refine.ada", n))
			case 1:
				fails = append(fails, fmt.Sprintf("r%d.propose.ada", n))
			}
		}
		engine, p := engineFor(func(call string, req *provider.Request) (scripted.Reply, bool) {
			if reply, ok := broken(fails...)(call, req); ok {
				return reply, ok
			}
			return sized(func(string) int { return replyLength })(call, req)
		})
		r := play(t, engine, config)
		told := map[string]string{} // what an agent was shown by round, or has summarised
		now := map[string]string{}
		for _, req := range p.Requests() {
			if call := callOf(&req); strings.Contains(call, ".summarize.") {
				told[call] = req.Last.Text
				summaries++
			} else {
				now[call] = req.Last.Text
			}
		}
		for n := 2; n <= r.Round; n++ {
			for _, who := range []string{"ada", "ben"} {
				text, ok := now[fmt.Sprintf("r%d.refine.%s", n, who)]
				for m := 1; m <= n; m++ {
					text += told[fmt.Sprintf("r%d.summarize.%s", m, who)]
				}
				for _, c := range view(r).Contributions() {
					own := c.Agent == who && c.Kind != deliberation.KindCritique || c.Target == who
					if ok && own && c.Round < n {
						require.Contains(t, text, firstLine(c.Text), "seed %d: round %d of %s", seed, n, who)
						checked++
					}
				}
			}
		}
	}
	assert.Greater(t, summaries, 100/fewer)
	assert.Greater(t, checked, 2500/fewer)
}

func TestSummariesAreOfOnesOwnHistoryAndIncremental(t *testing.T) {
	config := three()
	config.Rounds = 5
	engine, p := engineFor(sized(func(string) int { return replyLength }))
	r := play(t, engine, config)
	got := view(r).Summaries()
	require.NotEmpty(t, got)
	for _, s := range got {
		assert.Equal(t, s.Round-1, s.Upto)
		assert.Greater(t, s.Before, 5000)
		assert.LessOrEqual(t, s.After, 2500)
	}
	second := prompt(t, p, "r3.summarize.ada")
	for _, has := range []string{"r2.summarize.ada", "r1.refine.ada", "r2.critique.ben.ada", "r2.critique.cyd.ada"} {
		assert.Equal(t, 1, strings.Count(second, said(has)), has)
	}
	for _, not := range []string{"r1.propose.ada", "r1.critique.ben.ada", "r2.refine.ada", "r2.critique.ada.ben", "r1.refine.ben"} {
		assert.NotContains(t, second, said(not))
	}
	refine := prompt(t, p, "r3.refine.ada")
	for _, has := range []string{"r3.summarize.ada", "r2.refine.ada", "r3.critique.ben.ada", "r3.critique.cyd.ada"} {
		assert.Equal(t, 1, strings.Count(refine, said(has)), has)
	}
	assert.NotContains(t, refine, said("r2.critique.ben.ada"), "it is summarised")
	synthesis := prompt(t, p, "synthesis")
	last := got[len(got)-1]
	assert.Contains(t, synthesis, said(fmt.Sprintf("r%d.summarize.ada", last.Round)))
	for _, c := range view(r).Contributions() {
		whole := strings.Contains(synthesis, said(fmt.Sprintf("r%d.refine.%s", c.Round, c.Agent))) || c.Kind != deliberation.KindRefinement
		if c.Round > last.Upto {
			assert.True(t, whole)
		}
	}
}

func TestAFailedSummaryIsAWarningAndTheFullHistory(t *testing.T) {
	config := three()
	config.Rounds = 4
	engine, p := engineFor(func(call string, req *provider.Request) (scripted.Reply, bool) {
		if reply, ok := broken("r2.summarize.ben")(call, req); ok {
			return reply, ok
		}
		return sized(func(string) int { return replyLength })(call, req)
	})
	r := play(t, engine, config)
	assert.Equal(t, []string{"summary-failed r2.summarize.ben"}, kinds(r))
	assert.Contains(t, prompt(t, p, "r2.refine.ben"), said("r1.critique.ada.ben"))
	assert.Contains(t, prompt(t, p, "r3.summarize.ben"), said("r1.critique.ada.ben"), "the next one covers it")
	assert.Contains(t, prompt(t, p, "r2.refine.ada"), said("r2.summarize.ada"))
}

func TestALongSummaryIsCutVisibly(t *testing.T) {
	config := three()
	config.Rounds = 5
	config.Summaries.MaxLength = 1000
	engine, p := engineFor(sized(func(string) int { return replyLength }))
	r := play(t, engine, config)
	assert.Contains(t, prompt(t, p, "r2.refine.ada"), "[…cut]")
	for _, s := range view(r).Summaries() {
		assert.LessOrEqual(t, utf8.RuneCountInString(s.Text), 1000)
		assert.True(t, strings.HasSuffix(s.Text, " […cut]"))
	}
}

func TestAnAgentsOwnSummarySettingsWin(t *testing.T) {
	config := three()
	config.Rounds = 5
	config.Summaries.Off = true
	config.Agents[1].Summaries = &deliberation.Summaries{}
	_, r := input(t, config, sized(func(string) int { return replyLength }))
	got := view(r).Summaries()
	require.NotEmpty(t, got)
	for _, s := range got {
		assert.Equal(t, "ben", s.Agent)
	}
}

func TestFreshProposalsReadTheHistory(t *testing.T) {
	config := three()
	config.Proposals = deliberation.ProposalsFresh
	engine, p := engineFor(nil)
	r := play(t, engine, config)
	assert.Len(t, r.Turns, 2*(3+6+3)+1)
	fresh := prompt(t, p, "r2.propose.ada")
	for _, has := range []string{"r1.propose.ada", "r1.critique.ben.ada", "r1.refine.ada"} {
		assert.Equal(t, 1, strings.Count(fresh, said(has)), has)
	}
	assert.Contains(t, prompt(t, p, "r2.critique.ben.ada"), said("r2.propose.ada"))
	assert.NotContains(t, prompt(t, p, "r2.critique.ben.ada"), said("r1.refine.ada"))
	assert.Contains(t, prompt(t, p, "r2.refine.ada"), said("r1.refine.ada"))
}

// TestSummariesFollowTheAmendedRounds: as many are made as if the config had said so from the beginning.
func TestSummariesFollowTheAmendedRounds(t *testing.T) {
	for _, rounds := range [][2]int{{12, 12}, {2, 12}, {12, 2}} {
		synctest.Test(t, func(t *testing.T) {
			config := three()
			config.Rounds = rounds[0]
			engine, p := engineFor(sized(func(string) int { return replyLength }))
			stage.Altered(p, func(_ *provider.Request, r *scripted.Reply) {
				r.Delay = time.Second
			})
			session := stage.Started(t, engine, config)
			synctest.Wait()
			if rounds[1] != rounds[0] {
				require.NoError(t, session.Control(t.Context(), flow.Amendment{Rounds: &rounds[1]}))
			}
			r := stage.Ended(t, session)
			assert.Equal(t, rounds[1], r.Round)
			config.Rounds = rounds[1]
			_, want := input(t, config, sized(func(string) int { return replyLength }))
			assert.Len(t, view(r).Summaries(), len(view(want).Summaries()), "%d rounds, amended to %d", rounds[0], rounds[1])
		})
	}
}
