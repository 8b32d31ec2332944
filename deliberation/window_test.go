package deliberation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// narrow plays a deliberation of long texts whose models have small windows.
func narrow(t *testing.T, config deliberation.Config, size int) (*flow.Record, *scripted.Provider) {
	t.Helper()
	config.MaxTokens = 1024
	engine, p := engineFor(sized(func(string) int { return size }))
	engine.Models = map[string]flow.Model{"test/agent": {Window: 8400}, "test/judge": {Window: 8400}}
	return play(t, engine, config), p
}

// TestASmallWindowKeepsTheSummaries: what does not fit is read in a summary, which is made if there is none. Each reader of
// less than it should have is told.
func TestASmallWindowKeepsTheSummaries(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	for _, synthesis := range []string{deliberation.SynthesisVoting, deliberation.SynthesisMerge, deliberation.SynthesisJudge} {
		for _, rounds := range []int{3, 8} {
			for _, whole := range []*bool{nil, new(true)} {
				if fewer > 1 && rounds == 8 && (synthesis != deliberation.SynthesisVoting || whole != nil) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%d/whole=%t", synthesis, rounds, whole != nil), func(t *testing.T) {
					config := three()
					config.Rounds, config.Synthesis, config.FullHistory = rounds, synthesis, whole
					if whole != nil {
						config.Summaries.Threshold = 1 << 20 // else they are made before a prompt is too long
					}
					r, p := narrow(t, config, 2000)
					for _, w := range r.Warnings {
						assert.NotContains(t, w.Evidence, "without the history")
						assert.NotContains(t, w.Evidence, "of the final proposals alone")
					}
					smaller, read := 0, 0
					for _, req := range p.Requests() {
						call := callOf(&req)
						if !strings.Contains(call, ".short") {
							continue
						}
						smaller++
						assert.Contains(t, req.Last.Text, "Not all of the deliberation fits here: the ", call)
						if strings.Contains(call, ".refine.") || whole != nil && strings.Contains(call, ".critique.") || strings.HasPrefix(call, "synthesis") && synthesis == deliberation.SynthesisJudge {
							read++
							assert.Contains(t, req.Last.Text, "summary of rounds 1 to ", call)
						}
					}
					assert.Positive(t, smaller)
					assert.Positive(t, read)
				})
			}
		}
	}
}

// TestASummaryIsMadeWhereAPromptDoesNotFit, once for all who read it, and it is the one of the rounds before.
func TestASummaryIsMadeWhereAPromptDoesNotFit(t *testing.T) {
	t.Parallel()
	config := three()
	config.Rounds, config.Synthesis = 3, deliberation.SynthesisVoting
	r, p := narrow(t, config, 2000)
	text := prompt(t, p, "r3.refine.ada.short1")
	assert.Contains(t, text, "ada: summary of rounds 1 to 2>>>\n"+said("r3.condense.ada"))
	assert.Contains(t, text, "the refinement is made with the summary of rounds 1 to 2 alone.")
	assert.NotContains(t, text, said("r1.propose.ada"))
	assert.Contains(t, prompt(t, p, "r3.condense.ada"), said("r1.propose.ada"))
	made := view(r).Summaries()
	require.Len(t, made, 3)
	for _, s := range made {
		assert.Equal(t, []any{3, 2, deliberation.SummaryByWindow}, []any{s.Round, s.Upto, s.Method})
	}

	config.Summaries.Off = true
	r, p = narrow(t, config, 2000)
	assert.Empty(t, view(r).Summaries())
	assert.Contains(t, prompt(t, p, "r3.refine.ada.short1"), "the refinement is made without the history.")
}

// TestTheSolutionIsMadeOfSummaries also where none was made before. Where a budget has a hard limit it is not: nothing is
// kept back for that.
func TestTheSolutionIsMadeOfSummaries(t *testing.T) {
	for name, test := range map[string]struct {
		budget *flow.Budget
		how    string
		made   int
	}{
		"no budget":  {nil, "of the summaries and the final proposals alone", 3},
		"soft limit": {&flow.Budget{SoftCalls: 1000}, "of the summaries and the final proposals alone", 3},
		"hard limit": {&flow.Budget{HardCalls: 1000}, "of the final proposals alone", 0},
	} {
		t.Run(name, func(t *testing.T) {
			config := three()
			config.Budget = test.budget
			engine, p := engineFor(sized(func(string) int { return 1500 }))
			engine.Models = map[string]flow.Model{"test/judge": {Window: 8350}}
			r := play(t, engine, config)
			assert.Len(t, view(r).Summaries(), test.made)
			text := prompt(t, p, "synthesis.short1")
			assert.Contains(t, text, test.how)
			assert.Equal(t, test.made, strings.Count(text, "summary of rounds 1 to 1>>>"))
		})
	}
}

// TestASummaryThatDoesNotFitIsMadeOfAPartOfEachText, and one that fails is done without.
func TestASummaryThatDoesNotFitIsMadeOfAPartOfEachText(t *testing.T) {
	t.Parallel()
	config := three()
	config.Synthesis = deliberation.SynthesisVoting
	r, p := narrow(t, config, 4700)
	text := prompt(t, p, "r2.condense.ada.short1")
	assert.Contains(t, text, "the summary is made of a part of each text.")
	assert.Contains(t, shortened(r), "r2.condense.ada.short1")

	config.Rounds, config.MaxTokens = 3, 1024
	engine, p := engineFor(func(call string, req *provider.Request) (scripted.Reply, bool) {
		if reply, ok := broken("r3.condense.ada")(call, req); ok {
			return reply, ok
		}
		return sized(func(string) int { return 2000 })(call, req)
	})
	engine.Models = map[string]flow.Model{"test/agent": {Window: 8400}, "test/judge": {Window: 8400}}
	r = play(t, engine, config)
	assert.Contains(t, kinds(r), "summary-failed r3.condense.ada")
	assert.NotContains(t, prompt(t, p, "r3.refine.ada.short1"), "summary of rounds")
}

// TestASummaryThatWasCutOffIsMarked, for its readers and in a warning.
func TestASummaryThatWasCutOffIsMarked(t *testing.T) {
	config := three()
	config.Rounds = 6
	engine, p := engineFor(func(call string, req *provider.Request) (scripted.Reply, bool) {
		reply, ok := sized(func(string) int { return replyLength })(call, req)
		if call == "r2.summarize.ada" {
			reply = scripted.Reply{Text: "Round 1 began", Stop: provider.StopLength}
		}
		return reply, ok
	})
	r := play(t, engine, config)
	assert.Equal(t, []string{"summary-cut r2.summarize.ada"}, kinds(r))
	for _, call := range []string{"r2.refine.ada", "r3.summarize.ada"} {
		assert.Contains(t, prompt(t, p, call), "summary of rounds 1 to 1>>>\nRound 1 began […cut]\n")
	}
	assert.Equal(t, "Round 1 began […cut]", view(r).Summaries()[0].Text)
}
