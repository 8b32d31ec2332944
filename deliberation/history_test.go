package deliberation_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// reading is how much everybody has read: all prompts together, and the longest of them, in characters.
type reading struct{ all, longest int }

// readings plays a deliberation that the judge ends after so many rounds, if it may, with summaries or without.
func readings(t testing.TB, config deliberation.Config, ends int, summaries bool) (got reading) {
	t.Helper()
	config.Summaries.Off = !summaries
	engine, p := engineFor(func(call string, req *provider.Request) (scripted.Reply, bool) {
		if strings.HasSuffix(call, ".evaluate") {
			given := make([]float64, ends)
			given[ends-1] = 100
			return numbers(given...)(call, req)
		}
		return sized(func(string) int { return replyLength })(call, req)
	})
	read := func(text ...string) {
		n := utf8.RuneCountInString(strings.Join(text, ""))
		got.all, got.longest = got.all+n, max(got.longest, n)
	}
	engine.Functions = map[string]flow.Function{"own": deliberation.SynthesizerFunc(
		func(_ context.Context, task deliberation.SynthesisTask) (*deliberation.Solution, error) {
			read(task.Instruction)
			made := solution("The own solution.")
			return &made, nil
		})}
	r := play(t, engine, config)
	require.Equal(t, ends, r.Round)
	for _, req := range p.Requests() {
		read(req.System, req.Last.Text)
	}
	return got
}

// TestSummariesWhereverAHistoryIsRead: however the rounds end, and however the solution is made, long deliberations read
// summaries. One that the judge ends early has paid at most a little for summaries that nobody read again.
func TestSummariesWhereverAHistoryIsRead(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	const most = 12
	for _, end := range []string{deliberation.TerminationFixed, deliberation.TerminationConvergence, deliberation.TerminationQuality} {
		for _, synthesis := range []string{
			deliberation.SynthesisJudge, deliberation.SynthesisMerge, deliberation.SynthesisVoting, deliberation.SynthesisRegistered,
		} {
			if fewer > 1 && (synthesis == deliberation.SynthesisVoting || synthesis == deliberation.SynthesisRegistered) {
				continue
			}
			for _, whole := range []*bool{nil, new(true)} {
				t.Run(fmt.Sprintf("%s/%s/whole=%t", end, synthesis, whole != nil), func(t *testing.T) {
					for _, ends := range []int{3, 4, most} {
						if fewer > 1 && (ends == 4 || end == deliberation.TerminationQuality || whole != nil && end != deliberation.TerminationFixed) {
							continue
						}
						config := three()
						config.Rounds, config.Termination.Kind, config.Synthesis, config.FullHistory = most, end, synthesis, whole
						if synthesis == deliberation.SynthesisRegistered {
							config.Synthesizer = "own"
						}
						bound := 1.05
						if end == deliberation.TerminationFixed {
							config.Rounds, bound = ends, 1
						}
						if ends == most {
							bound = 0.6
						}
						on, off := readings(t, config, ends, true), readings(t, config, ends, false)
						t.Logf("%d rounds: %d characters with summaries, %d without; the longest prompt %d and %d",
							ends, on.all, off.all, on.longest, off.longest)
						assert.LessOrEqual(t, float64(on.all), bound*float64(off.all), "%d rounds", ends)
						if ends == most {
							assert.Less(t, 2*on.longest, off.longest)
						}
					}
				})
			}
		}
	}
}

// TestWhatIsReadOfEarlierRounds: an agent's own history unless the config says so; with includeFullHistory all that was
// said, and without it nothing, whether or not proposals are carried over.
func TestWhatIsReadOfEarlierRounds(t *testing.T) {
	for name, test := range map[string]struct {
		history *bool
		reads   func(c deliberation.Contribution) bool
	}{
		"own": {nil, func(c deliberation.Contribution) bool {
			return c.Target == "ada" || c.Agent == "ada" && c.Kind != deliberation.KindCritique
		}},
		"whole":   {new(true), func(deliberation.Contribution) bool { return true }},
		"nothing": {new(bool), func(deliberation.Contribution) bool { return false }},
	} {
		for _, proposals := range []string{deliberation.ProposalsCarry, deliberation.ProposalsFresh} {
			t.Run(name+"/"+proposals, func(t *testing.T) {
				config := three()
				config.Rounds, config.FullHistory, config.Proposals, config.Summaries.Off = 4, test.history, proposals, true
				engine, p := engineFor(nil)
				r := play(t, engine, config)
				ask, standing := "r4.refine.ada", "r3.refine.ada"
				if proposals == deliberation.ProposalsFresh {
					ask = "r4.propose.ada" // what stands is in it too
				}
				text := prompt(t, p, ask)
				for _, c := range view(r).Contributions() {
					want := 0
					if c.Round < 4 && (test.reads(c) || strings.TrimSpace(c.Text) == said(standing)) {
						want = 1
					}
					if c.Round < 4 || proposals == deliberation.ProposalsFresh {
						assert.Equal(t, want, strings.Count(text, c.Text), c.Text)
					}
				}
				critique := prompt(t, p, "r4.critique.ada.ben")
				target := "r3.refine.ben"
				if proposals == deliberation.ProposalsFresh {
					target = "r4.propose.ben"
				}
				for _, c := range view(r).Contributions() {
					want := 0
					if name == "whole" && c.Round < 4 || c.Text == said(target) {
						want = 1
					}
					assert.Equal(t, want, strings.Count(critique, c.Text), "a critique reads its target, or all: %s", c.Text)
				}
				synthesis := prompt(t, p, "synthesis")
				for _, c := range view(r).Contributions() {
					assert.Contains(t, synthesis, c.Text, "the synthesis reads every round")
				}
			})
		}
	}
}

// TestTheWholeHistoryIsReadInSummaries: until an agent has a summary, it reads all that was said. Its own summary stands in the place of
// all of that, in its critiques too, for it is made before the round's proposals. It reads nobody else's.
func TestTheWholeHistoryIsReadInSummaries(t *testing.T) {
	config := three()
	config.Rounds, config.FullHistory = 5, new(true)
	config.Agents[2].Summaries = &deliberation.Summaries{Off: true}
	engine, p := engineFor(sized(func(string) int { return replyLength }))
	r := play(t, engine, config)
	made := map[string]int{}
	for _, s := range view(r).Summaries() {
		made[s.Agent]++
		assert.Equal(t, s.Round-1, s.Upto)
	}
	assert.Equal(t, map[string]int{"ada": 4, "ben": 4}, made)

	refine := prompt(t, p, "r4.refine.ada")
	for _, has := range []string{"r4.summarize.ada", "r3.refine.ada", "r4.critique.ben.ada", "r4.critique.cyd.ada"} {
		assert.Equal(t, 1, strings.Count(refine, said(has)), has)
	}
	critique := prompt(t, p, "r4.critique.ada.ben")
	for _, has := range []string{"r4.summarize.ada", "r3.refine.ben"} {
		assert.Equal(t, 1, strings.Count(critique, said(has)), has)
	}
	for _, text := range []string{refine, critique} {
		for _, not := range []string{"r4.summarize.ben", "r3.summarize.ada", "r3.critique.ada.ben", "r3.refine.cyd", "r3.critique.ben.ada"} {
			assert.NotContains(t, text, said(not))
		}
	}
	whole := prompt(t, p, "r4.refine.cyd") // who has no summary
	for _, c := range view(r).Contributions() {
		if c.Round < 4 {
			assert.Equal(t, 1, strings.Count(whole, c.Text), c.Text)
		}
	}
}

// TestSummariesOfWhatNobodyReadsAreRefused, for nobody would make them.
func TestSummariesOfWhatNobodyReadsAreRefused(t *testing.T) {
	config := three()
	config.FullHistory, config.Summaries.Threshold = new(bool), 9000
	config.Agents[1].Summaries = &deliberation.Summaries{MaxLength: 700}
	engine, _ := engineFor(nil)
	_, err := engine.Start(t.Context(), config)
	require.ErrorContains(t, err, "summaries.threshold: is set, but includeFullHistory is false")
	require.ErrorContains(t, err, "agents[1].summaries.maxLength: is set, but includeFullHistory is false")

	config.Summaries, config.Agents[1].Summaries = deliberation.Summaries{}, nil
	config.Rounds = 6
	engine, _ = engineFor(sized(func(string) int { return replyLength }))
	assert.Empty(t, view(play(t, engine, config)).Summaries())
}

// TestALongDeliberationFitsASmallWindow: what is summarised need not be left out, however the rounds end.
func TestALongDeliberationFitsASmallWindow(t *testing.T) {
	t.Parallel()
	for _, end := range []string{deliberation.TerminationFixed, deliberation.TerminationConvergence, deliberation.TerminationQuality} {
		for _, synthesis := range []string{deliberation.SynthesisMerge, deliberation.SynthesisVoting}[:longform.Sized(2, 2, 1)] {
			config := three()
			config.Rounds, config.Termination.Kind, config.Synthesis, config.MaxTokens = 8, end, synthesis, 1024
			engine, _ := engineFor(sized(func(string) int { return replyLength }))
			window := 9700                                  // in the last rounds, a summary is not worth its own prompt
			if end == deliberation.TerminationConvergence { // a refinement shows the others' proposals too
				window += 2 * replyLength
			}
			engine.Models = map[string]flow.Model{"test/agent": {Window: window}, "test/judge": {Window: window}}
			for _, w := range play(t, engine, config).Warnings {
				assert.NotEqual(t, deliberation.WarnShortened, w.Kind, "%s, %s: %s", end, synthesis, w.Evidence)
			}
		}
	}
}
