package deliberation_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// ownSynthesizer takes the last refinement as it is. It leaves lists out, which is fine.
func ownSynthesizer() deliberation.SynthesizerFunc {
	return func(_ context.Context, task deliberation.SynthesisTask) (*deliberation.Solution, error) {
		for _, turn := range slices.Backward(task.Turns) {
			if turn.Kind == deliberation.KindRefinement {
				return &deliberation.Solution{Description: turn.Text, Confidence: 30}, nil
			}
		}
		return nil, errors.New("nothing was refined")
	}
}

func TestVotingTakesTheProposalThatIsRankedBest(t *testing.T) {
	config := three()
	config.Synthesis = deliberation.SynthesisVoting
	config.Judge = deliberation.Judge{} // nobody needs it
	engine, p := engineFor(func(call string, _ *provider.Request) (scripted.Reply, bool) {
		ranking := map[string][]string{"vote.ada": {"cyd", "ben"}, "vote.ben": {"cyd", "ada"}, "vote.cyd": {"ada", "ben"}}[call]
		return scripted.Reply{Text: toJSON(deliberation.Vote{Ranking: ranking})}, ranking != nil
	})
	r := play(t, engine, config)
	got, by, ok := solved(r)
	require.True(t, ok)
	assert.Equal(t, "cyd", by, "its author writes it out")
	assert.Equal(t, "The solution of synthesis.cyd.", got.Description)
	ballots, scores := view(r).Votes()
	assert.Len(t, ballots, 3)
	assert.Equal(t, []deliberation.Score{{Agent: "cyd", Points: 2, First: 2}, {Agent: "ada", Points: 1, First: 1}, {Agent: "ben"}}, scores)
	assert.Contains(t, prompt(t, p, "synthesis.cyd"), said("r2.refine.cyd"))
	assert.NotContains(t, prompt(t, p, "synthesis.cyd"), said("r2.refine.ada"))
	assert.NotContains(t, prompt(t, p, "vote.cyd"), said("r2.refine.cyd"), "nobody is shown its own")
	assert.Less(t, strings.Index(prompt(t, p, "vote.ben"), "cyd: proposal"), strings.Index(prompt(t, p, "vote.ben"), "ada: proposal"),
		"who comes first is another for every voter")
}

func TestTheJudgeVotesToo(t *testing.T) {
	config := three()
	config.Synthesis, config.Agents = deliberation.SynthesisVoting, config.Agents[:2]
	engine, _ := engineFor(func(call string, _ *provider.Request) (scripted.Reply, bool) {
		return scripted.Reply{Text: toJSON(deliberation.Vote{Ranking: []string{"ben", "ada"}})}, call == "vote.judge"
	})
	_, by, ok := solved(play(t, engine, config))
	require.True(t, ok)
	assert.Equal(t, "ben", by)
}

func TestWhereAnAuthorFailsTheNextWritesTheSolution(t *testing.T) {
	config := three()
	config.Synthesis = deliberation.SynthesisVoting
	engine, _ := engineFor(broken("synthesis.ada", "vote.cyd"))
	r := play(t, engine, config)
	_, by, ok := solved(r)
	require.True(t, ok)
	assert.Equal(t, "ben", by)
	assert.Equal(t, []string{"left-out vote.cyd", "left-out synthesis.ada"}, kinds(r))
	assert.Contains(t, r.Warnings[1].Evidence, "ben writes the solution in place of ada: synthesis.ada has failed for good")
}

func TestMergingGoesByPairs(t *testing.T) {
	config := three()
	config.Synthesis = deliberation.SynthesisMerge
	engine, p := engineFor(nil)
	r := play(t, engine, config)
	assert.Equal(t, []string{"merge.1.1", "merge.2.1", "synthesis"}, calls(r)[len(r.Turns)-3:])
	first := prompt(t, p, "merge.1.1")
	assert.Contains(t, first, said("r2.refine.ada"))
	assert.Contains(t, first, said("r2.refine.ben"))
	assert.NotContains(t, first, said("r2.refine.cyd"))
	second := prompt(t, p, "merge.2.1")
	assert.Contains(t, second, said("merge.1.1"))
	assert.Contains(t, second, said("r2.refine.cyd"))
	assert.Contains(t, prompt(t, p, "synthesis"), said("merge.2.1"))

	engine, p = engineFor(broken("merge.1.1"))
	r = play(t, engine, config)
	require.Len(t, r.Warnings, 1)
	assert.Equal(t, "merge.1.1", r.Warnings[0].Call)
	assert.Contains(t, prompt(t, p, "merge.2.1"), said("r2.refine.ada"), "the first of the two goes on")
}

func TestARegisteredSynthesizer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := three()
		config.Synthesis, config.Synthesizer = deliberation.SynthesisRegistered, "own"
		config.Judge = deliberation.Judge{}
		var seen deliberation.SynthesisTask
		engine, _ := engineFor(nil)
		engine.Functions = map[string]flow.Function{"own": deliberation.SynthesizerFunc(
			func(ctx context.Context, task deliberation.SynthesisTask) (*deliberation.Solution, error) {
				seen = task
				return ownSynthesizer()(ctx, task)
			})}
		r := play(t, engine, config)
		got, by, ok := solved(r)
		require.True(t, ok)
		assert.Equal(t, "synthesizer", by)
		assert.Equal(t, said("r2.refine.cyd"), got.Description)
		assert.Contains(t, seen.Instruction, "It takes 100 million links.")
		assert.Contains(t, seen.Instruction, said("r1.critique.ada.ben"))
		assert.Len(t, seen.Turns, 3+2*9)
		assert.Equal(t, "synthesis", seen.Call)

		engine, _ = engineFor(nil)
		engine.Functions = map[string]flow.Function{"own": deliberation.SynthesizerFunc(
			func(context.Context, deliberation.SynthesisTask) (*deliberation.Solution, error) { return nil, nil })} //nolint:nilnil // what is tested
		config.Unattended = true
		r = stuck(t, engine, config)
		assert.Equal(t, "synthesis", r.Failure.Op)
		assert.Contains(t, r.Failure.Error(), "the synthesizer returned no solution")
	})
}

func TestAnUnmetMajorRequirementIsAskedAboutAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := solution("Too good.")
		bad.Requirements[0].Fulfilled = false
		engine, p := engineFor(func(call string, req *provider.Request) (scripted.Reply, bool) {
			return scripted.Reply{Text: toJSON(bad)}, call == "synthesis" && !reasked(req)
		})
		r := play(t, engine, three())
		require.Len(t, r.Rejections, 1)
		assert.Equal(t, []string{"confidence: is 82, but the major requirement requirements[0] is not fulfilled: at most 40 is possible then"},
			r.Rejections[0].Problems)
		got, _, ok := solved(r)
		require.True(t, ok)
		assert.InDelta(t, 82, got.Confidence, 0, "the answer that was accepted, as it was given")
		last := p.Requests()[len(p.Requests())-1]
		assert.Contains(t, last.Last.Text, "at most 40 is possible then")
	})
}

// stuck plays a deliberation that stops in the error state without a solution.
func stuck(t *testing.T, engine *debate.Engine, config deliberation.Config) *flow.Record {
	t.Helper()
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	r, err := session.Wait(t.Context())
	require.Error(t, err)
	require.Equal(t, flow.StateError, r.State)
	_, _, ok := solved(r)
	assert.False(t, ok)
	return r
}

func TestASolutionIsOwed(t *testing.T) {
	config := three()
	config.Unattended = true
	for _, method := range []string{deliberation.SynthesisJudge, deliberation.SynthesisMerge, deliberation.SynthesisVoting} {
		config.Synthesis = method
		engine, _ := engineFor(broken("synthesis", "synthesis.ada", "synthesis.ben", "synthesis.cyd"))
		r := stuck(t, engine, config)
		assert.True(t, strings.HasPrefix(r.Failure.Op, "synthesis"), "%s: %s", method, r.Failure.Op)
	}
}

func TestAPersonSaysWhatBecomesOfASynthesisThatHasFailed(t *testing.T) {
	works := false
	engine, _ := engineFor(func(call string, _ *provider.Request) (scripted.Reply, bool) {
		return scripted.Reply{Err: &provider.Error{Kind: provider.KindAuthentication}}, call == "synthesis" && !works
	})
	session := stage.Started(t, engine, three())
	r := stage.AwaitsInput(t, session)
	require.Len(t, r.Inquiries, 1)
	assert.Equal(t, []flow.Option{flow.OptionRetry, flow.OptionWait, flow.OptionModel, flow.OptionEnd}, r.Inquiries[0].Options)
	works = true
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: r.Inquiries[0].ID, Option: flow.OptionRetry}))
	r = stage.Ended(t, session)
	_, _, ok := solved(r)
	assert.True(t, ok)
}

// broken lets the calls fail for good.
func broken(ids ...string) answers {
	return func(call string, _ *provider.Request) (scripted.Reply, bool) {
		for _, id := range ids {
			if call == id || strings.HasSuffix(id, "*") && strings.HasPrefix(call, strings.TrimSuffix(id, "*")) {
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindAuthentication, Message: "no"}}, true
			}
		}
		return scripted.Reply{}, false
	}
}

// TestTheSolutionIsLastAndAnnounced: all calls that it takes are announced, and its slot is the last of its round.
func TestTheSolutionIsLastAndAnnounced(t *testing.T) {
	for _, method := range []string{
		deliberation.SynthesisJudge, deliberation.SynthesisVoting, deliberation.SynthesisMerge, deliberation.SynthesisRegistered,
	} {
		for _, agents := range []int{2, 3} {
			config := three()
			config.Synthesis, config.Agents = method, config.Agents[:agents]
			if method == deliberation.SynthesisRegistered {
				config.Synthesizer = "own"
			}
			engine, _ := engineFor(nil)
			engine.Functions = map[string]flow.Function{"own": ownSynthesizer()}
			r := play(t, engine, config)
			announced, made := -1, 0
			for _, e := range events(t, engine, r.ID) {
				switch {
				case body.As[flow.Transition](e) != nil && body.As[flow.Transition](e).To == flow.StateCompleting:
					announced, made = body.As[flow.Transition](e).Calls, 0
				case body.As[flow.Intent](e) != nil:
					made++
				}
			}
			assert.Equal(t, made, announced, method)
			last := r.RoundTurns(2)
			assert.Equal(t, deliberation.KindSynthesis, last[len(last)-1].Kind, method)
			slots := map[int]string{}
			for _, turn := range last {
				assert.Empty(t, slots[turn.Slot], "%s has the slot of another", turn.Call)
				slots[turn.Slot] = turn.Call
			}
		}
	}
}

// TestHowManyMergesARuleSkips: at least one is made. A person may do without all of them.
func TestHowManyMergesARuleSkips(t *testing.T) {
	for name, test := range map[string]struct {
		agents int
		failed []string
		stops  string
	}{
		"the only one":      {2, []string{"merge."}, "merge.1.1"},
		"the first of two":  {3, []string{"merge.1."}, ""},
		"the second of two": {3, []string{"merge.2."}, ""},
		"both":              {3, []string{"merge."}, "merge.2.1"},
		"one of three":      {4, []string{"merge.1.2"}, ""},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := three()
			config.Synthesis, config.Rounds = deliberation.SynthesisMerge, 1
			dan := config.Agents[0]
			dan.ID = "dan"
			config.Agents = append(config.Agents, dan)[:test.agents]
			failed, r := settled(t, config, test.failed...)
			if assert.Equal(t, test.stops != "", failed != nil) && failed != nil {
				assert.Equal(t, test.stops, failed.Failure.Op)
			}
			assert.LessOrEqual(t, len(r.SkippedCalls), 1)

			config.OnFailure = nil
			mended := false
			engine, _ := engineFor(refusing(&mended, test.failed...))
			_, _, ok := solved(choosing(t, engine, config, flow.OptionSkip))
			assert.True(t, ok)
		}))
	}
}
