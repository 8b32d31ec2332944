package deliberation_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// windowed plays a deliberation of long texts with models of these windows, in tokens, and nobody there to be asked.
func windowed(t *testing.T, config deliberation.Config, agent, judge int) (*flow.Record, *scripted.Provider) {
	t.Helper()
	config.Unattended, config.MaxTokens = true, 600
	engine, p := engineFor(sized(func(string) int { return replyLength }))
	engine.Models = map[string]flow.Model{"test/agent": {Window: agent}, "test/judge": {Window: judge}}
	var r *flow.Record
	synctest.Test(t, func(t *testing.T) {
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer session.Close()
		r, err = session.Wait(t.Context())
		assert.Equal(t, r.State == flow.StateCompleted, err == nil, "%v", err)
	})
	return r, p
}

// shortened returns the calls that were warned of as made with less than they should have had.
func shortened(r *flow.Record) []string {
	var out []string
	for _, w := range r.Warnings {
		if w.Kind == deliberation.WarnShortened {
			out = append(out, w.Call)
		}
	}
	return out
}

// TestASolutionThatDoesNotFitIsMadeSmaller: of the summaries and the final proposals, then of these alone, then of
// parts of them. Nobody gives up before, and what was left out is told.
func TestASolutionThatDoesNotFitIsMadeSmaller(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		window    int
		summaries bool
		method    string
		call, how string
		has, not  []string
	}{
		"all of it": {100_000, true, "judge", "synthesis", "", []string{"summary of rounds", "r6.critique.ben.ada", "r6.refine.ada"}, nil},
		"the summaries": {
			10_200, true, "judge", "synthesis.short1", "of the summaries and the final proposals alone",
			[]string{"summary of rounds", "r6.refine.ada", "r6.refine.cyd"},
			[]string{"r6.critique.ben.ada"},
		},
		"a part of the summaries": {
			7350, true, "judge", "synthesis.short2", "of a part of each summary and the final proposals alone",
			[]string{"summary of rounds", "[…cut]", "r6.refine.ada", "r6.refine.cyd"},
			[]string{"r6.critique.ben.ada"},
		},
		"the final proposals": {
			6650, true, "judge", "synthesis.short3", "of the final proposals alone", []string{"r6.refine.ada", "r6.refine.cyd"}, []string{"summary of rounds"},
		},
		"no summaries": {
			9150, false, "judge", "synthesis.short1", "of the final proposals alone", []string{"r6.refine.ada", "r6.refine.cyd"}, []string{"r5.refine.ada"},
		},
		"parts": {
			6150, false, "judge", "synthesis.short2", "of a part of each final proposal alone", []string{"r6.refine.ada", "r6.refine.cyd", "[…cut]"}, nil,
		},
		"the merged one": {
			5120, false, "merge", "synthesis.short1", "of a part of the merged proposal", []string{"merge.2.1.short1", "[…cut]"}, []string{"r6.refine.cyd"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := three()
			config.Rounds, config.Summaries.Off, config.Synthesis = 6, !test.summaries, test.method
			r, p := windowed(t, config, 0, test.window)
			_, _, ok := solved(r)
			require.True(t, ok, r.Warnings)
			text := prompt(t, p, test.call)
			for _, has := range test.has {
				assert.Contains(t, text, has)
			}
			for _, not := range test.not {
				assert.NotContains(t, text, not)
			}
			if test.how == "" {
				assert.NotContains(t, shortened(r), test.call)
				return
			}
			assert.Contains(t, text, test.how, "the judge is told")
			require.Contains(t, shortened(r), test.call)
			i := slices.IndexFunc(r.Warnings, func(w flow.Warning) bool { return w.Kind == deliberation.WarnShortened && w.Call == test.call })
			assert.Contains(t, r.Warnings[i].Evidence, test.how)
			assert.Contains(t, r.Warnings[i].Evidence, "does not fit")
			assert.Contains(t, r.Warnings[i].Evidence, test.call)
		})
	}
}

// TestAPromptThatDoesNotFitIsMadeSmaller: of agents too.
func TestAPromptThatDoesNotFitIsMadeSmaller(t *testing.T) {
	t.Parallel()
	config := three()
	config.Rounds, config.Summaries.Off = 3, true
	r, p := windowed(t, config, 8220, 0)
	assert.NotEmpty(t, shortened(r))
	assert.Equal(t, flow.EndRounds, r.Reason, r.Evidence)
	for _, call := range shortened(r) {
		assert.Contains(t, call, ".refine.")
	}
	text := prompt(t, p, "r3.refine.ada.short1")
	for _, has := range []string{"r2.refine.ada", "r3.critique.ben.ada", "r3.critique.cyd.ada"} {
		assert.Contains(t, text, said(has))
	}
	assert.NotContains(t, text, said("r1.propose.ada"))

	r, p = windowed(t, config, 5720, 0)
	assert.Equal(t, flow.EndRounds, r.Reason, r.Evidence)
	text = prompt(t, p, "r1.refine.ada.short1")
	for _, has := range []string{"r1.propose.ada", "r1.critique.ben.ada", "r1.critique.cyd.ada"} {
		assert.Contains(t, text, said(has))
	}
	assert.Equal(t, 3, strings.Count(text, "[…cut]"))

	r, p = windowed(t, config, 4720, 0)
	assert.Contains(t, shortened(r), "r1.critique.ada.ben.short2")
	assert.Contains(t, prompt(t, p, "r1.critique.ada.ben.short2"), "[…cut]")
	assert.Equal(t, flow.StateError, r.State, "the rule leaves out one agent, and two are needed")
	assert.Equal(t, provider.KindContextOverflow, r.Failure.Kind)
	assert.Contains(t, r.Failure.Op, "r1.refine.")
	assert.Len(t, r.SkippedCalls, 1)

	config.Proposals = deliberation.ProposalsFresh
	r, p = windowed(t, config, 7670, 0)
	assert.Contains(t, shortened(r), "r3.propose.ada.short1")
	assert.NotContains(t, prompt(t, p, "r3.propose.ada.short1"), said("r1.propose.ada"))
	assert.Equal(t, flow.EndRounds, r.Reason, r.Evidence)
}

// TestWhatNeverFitsIsTold: the error names the call and the reason.
func TestWhatNeverFitsIsTold(t *testing.T) {
	for what, op := range map[string]string{"synthesis": `^synthesis\.short5$`, "r1.propose.": `^r1\.propose\.\w+\.short3$`} {
		engine, _ := engineFor(func(call string, _ *provider.Request) (scripted.Reply, bool) {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindContextOverflow, Message: "too long"}}, strings.HasPrefix(call, what)
		})
		config := three()
		config.Unattended, config.OnFailure = true, nil
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		r, err := session.Wait(t.Context())
		require.NoError(t, session.Close())
		require.Error(t, err)
		require.Equal(t, flow.StateError, r.State)
		assert.Regexp(t, op, r.Failure.Op)
		assert.Equal(t, provider.KindContextOverflow, r.Failure.Kind)
	}
}

// TestAnOverflowThatTheVendorReports is treated like one that was foreseen.
func TestAnOverflowThatTheVendorReports(t *testing.T) {
	engine, p := engineFor(func(call string, _ *provider.Request) (scripted.Reply, bool) {
		return scripted.Reply{Err: &provider.Error{Kind: provider.KindContextOverflow, Message: "too long"}}, call == "synthesis"
	})
	config := three()
	config.Unattended = true
	r := play(t, engine, config)
	_, by, ok := solved(r)
	assert.True(t, ok)
	assert.Equal(t, "judge", by)
	assert.Equal(t, []string{"synthesis.short1"}, shortened(r))
	assert.NotContains(t, prompt(t, p, "synthesis.short1"), said("r1.propose.ada"))
}

// shrunk plays a deliberation of four agents whose proposals are too long for a vote or an evaluation of all of them.
func shrunk(t *testing.T, change func(*deliberation.Config)) (*flow.Record, *scripted.Provider) {
	t.Helper()
	config := three()
	config.Agents = append(config.Agents, deliberation.Agent{ID: "dan", Model: "test/agent"})
	config.Unattended, config.OnFailure, config.MaxTokens = true, nil, 1500
	change(&config)
	engine, p := engineFor(sized(func(string) int { return 3500 }))
	engine.Models = map[string]flow.Model{"test/agent": {Window: 8400}, "test/judge": {Window: 8400}}
	return play(t, engine, config), p
}

// TestAVoteAndAnEvaluationThatDoNotFitAreMadeSmaller, and their readers are told. A smaller reserve leaves room for all.
func TestAVoteAndAnEvaluationThatDoNotFitAreMadeSmaller(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*deliberation.Config)
		call   string
		what   string
	}{
		"vote":       {func(c *deliberation.Config) { c.Synthesis = deliberation.SynthesisVoting }, "vote.judge", "the vote"},
		"confidence": {func(c *deliberation.Config) { c.Termination.Kind = deliberation.TerminationConvergence }, "r1.evaluate", "the evaluation"},
		"quality":    {func(c *deliberation.Config) { c.Termination.Kind = deliberation.TerminationQuality }, "r1.evaluate", "the evaluation"},
	} {
		t.Run(name, func(t *testing.T) {
			r, p := shrunk(t, test.change)
			_, _, ok := solved(r)
			require.True(t, ok)
			text := prompt(t, p, test.call+".short1")
			assert.Contains(t, text, "Not all of the deliberation fits here: "+test.what+" is made of a part of each proposal.")
			assert.Equal(t, 4, strings.Count(text, "[…cut]"))
			assert.Contains(t, shortened(r), test.call+".short1")

			r, p = shrunk(t, func(c *deliberation.Config) {
				test.change(c)
				c.Reserve = 1024
			})
			assert.NotContains(t, shortened(r), test.call+".short1")
			assert.Equal(t, 4, strings.Count(prompt(t, p, test.call), ": proposal>>>"))
		})
	}
}
