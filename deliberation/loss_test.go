package deliberation_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// refusing lets calls whose ids begin so fail until they are mended.
func refusing(mended *bool, calls ...string) answers {
	return func(call string, _ *provider.Request) (scripted.Reply, bool) {
		begins := func(prefix string) bool { return strings.HasPrefix(call, prefix) }
		return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal}}, !*mended && slices.ContainsFunc(calls, begins)
	}
}

// settled plays an unattended deliberation, mends the cause once it is in the error state, and returns both records.
func settled(t *testing.T, config deliberation.Config, calls ...string) (failed, done *flow.Record) {
	t.Helper()
	mended := false
	engine, _ := engineFor(refusing(&mended, calls...))
	config.Unattended = true
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	r, err := session.Wait(t.Context())
	if err != nil {
		require.Equal(t, flow.StateError, r.State)
		synctest.Wait() // for the calls that were in flight
		failed, mended = r, true
		require.NoError(t, session.Retry(t.Context()))
		r, err = session.Wait(t.Context())
	}
	require.NoError(t, err)
	assert.Equal(t, flow.StateCompleted, r.State)
	_, _, ok := solved(r)
	assert.True(t, ok)
	return failed, r
}

// TestWhomARuleDrops: two agents are left whatever the call is, and the next failure is an error.
func TestWhomARuleDrops(t *testing.T) {
	for name, test := range map[string]struct {
		calls   []string
		dropped int
		failed  bool
	}{
		"one question":                           {[]string{"clarify.1.ada"}, 1, false},
		"two questions":                          {[]string{"clarify.1.ada", "clarify.1.ben"}, 1, true},
		"all questions":                          {[]string{"clarify."}, 1, true},
		"a proposal":                             {[]string{"r1.propose.ada"}, 1, false},
		"all proposals":                          {[]string{"r1.propose"}, 1, true},
		"all critiques":                          {[]string{"r1.critique"}, 1, true},
		"all refinements":                        {[]string{"r2.refine"}, 1, true},
		"one vote":                               {[]string{"vote.ada"}, 1, false},
		"all votes":                              {[]string{"vote."}, 1, true},
		"the best proposal, written out":         {[]string{"synthesis.ada"}, 1, false},
		"the two best proposals, written out":    {[]string{"synthesis.ada", "synthesis.ben"}, 1, true},
		"a question, then the critiques of one":  {[]string{"clarify.1.ada", "r1.critique.ben"}, 1, true},
		"a vote, then the best of what was left": {[]string{"vote.ada", "synthesis.ben"}, 1, true},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := three()
			config.Clarification.On, config.Synthesis = true, deliberation.SynthesisVoting
			config.OnFailure = []flow.FailureRule{{Do: flow.OptionDrop}, {Do: flow.OptionFail}}
			failed, r := settled(t, config, test.calls...)
			assert.Equal(t, test.failed, failed != nil)
			assert.Len(t, r.Dropped(), test.dropped)
			for _, name := range r.Dropped() {
				assert.Equal(t, flow.EndedByRule, r.DroppedBy(name))
			}
			assert.Equal(t, flow.EndRounds, r.Reason, r.Evidence)
			assert.Empty(t, r.EndedEarlyBy)
		}))
	}
}

// TestADropNeedsProposals: those who are left have something to critique and to make a solution of.
func TestADropNeedsProposals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := three()
		config.OnFailure = []flow.FailureRule{
			{Calls: []flow.CallKind{deliberation.KindProposal}, Do: flow.OptionSkip}, {Do: flow.OptionDrop},
		}
		failed, r := settled(t, config, "r1.propose.ben", "r1.critique.ada.cyd")
		require.NotNil(t, failed)
		assert.Equal(t, "r1.critique.ada.cyd", failed.Failure.Op, "without Ada only Cyd has a proposal")
		assert.Empty(t, r.Dropped())
		assert.Equal(t, flow.EndRounds, r.Reason)
	})
}

// TestWhatAPersonDecides: fewer than two agents are enough for a person, as long as there is something to conclude from.
func TestWhatAPersonDecides(t *testing.T) {
	for name, test := range map[string]struct {
		calls  string
		option flow.Option
		by     string // who has ended the rounds
		last   []flow.Option
		solved bool
	}{
		"drops for questions":   {"clarify.", flow.OptionDrop, flow.EndedByPerson, nil, true},
		"skips of questions":    {"clarify.", flow.OptionSkip, "", []flow.Option{flow.OptionSkip}, true},
		"drops for proposals":   {"r1.propose.", flow.OptionDrop, flow.EndedByPerson, nil, false},
		"skips of proposals":    {"r1.propose.", flow.OptionSkip, flow.EndedByPerson, nil, false},
		"drops for critiques":   {"r1.critique.", flow.OptionDrop, flow.EndedByPerson, nil, true},
		"skips of refinements":  {"r1.refine.", flow.OptionSkip, flow.EndedByPerson, []flow.Option{flow.OptionSkip}, true},
		"drops for refinements": {"r1.refine.", flow.OptionDrop, flow.EndedByPerson, nil, true},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			mended := false
			config := three()
			config.Clarification.On, config.OnFailure = true, nil
			engine, _ := engineFor(refusing(&mended, test.calls))
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			defer session.Close()
			var r *flow.Record
			for range 20 {
				r, err = session.Wait(t.Context())
				if err == nil {
					break
				}
				require.ErrorIs(t, err, debate.ErrAwaitingInput)
				q := r.Inquiries[0]
				err = session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: test.option})
				if err != nil { // nothing would be left
					assert.NotContains(t, test.last, test.option)
					mended = true
					require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionRetry}))
				}
			}
			require.NoError(t, err)
			assert.Equal(t, flow.StateCompleted, r.State)
			assert.Equal(t, test.by, r.EndedEarlyBy)
			_, _, ok := solved(r)
			assert.True(t, ok)
			for _, skip := range r.SkippedCalls {
				assert.Equal(t, flow.EndedByPerson, r.SkippedBy(skip.Call))
			}
		}))
	}
}

// TestASharedSkipLeavesOne: a person who skips all calls of an empty account is asked about the last one again.
func TestASharedSkipLeavesOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := three()
		config.OnFailure = nil
		empty := true
		engine, _ := engineFor(func(call string, _ *provider.Request) (scripted.Reply, bool) {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindQuota}}, empty && strings.HasPrefix(call, "r1.propose.")
		})
		session := stage.Started(t, engine, config)
		r := stage.AwaitsInput(t, session)
		require.Len(t, r.Inquiries, 1)
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: r.Inquiries[0].ID, Option: flow.OptionSkip}))
		r = stage.AwaitsInput(t, session)
		assert.Len(t, r.SkippedCalls, 2)
		require.Len(t, r.Inquiries, 1)
		assert.Equal(t, []flow.Option{flow.OptionRetry, flow.OptionWait, flow.OptionModel, flow.OptionEnd}, r.Inquiries[0].Options)
		empty = false
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: r.Inquiries[0].ID, Option: flow.OptionRetry}))
		r = stage.Ended(t, session)
		assert.Equal(t, []any{flow.EndTooFew, flow.EndedByPerson}, []any{r.Reason, r.EndedEarlyBy})
		_, _, ok := solved(r)
		assert.True(t, ok)
	})
}

// TestAnEndWithoutAProposal: whoever ends a deliberation before there is a proposal does without the solution.
func TestAnEndWithoutAProposal(t *testing.T) {
	for _, by := range []string{flow.EndedByRule, flow.EndedByPerson, flow.EndedByHost} {
		t.Run(by, stage.Bubbled(func(t *testing.T) {
			mended := false
			config := three()
			config.Clarification.On, config.OnFailure = true, nil
			engine, _ := engineFor(refusing(&mended, "r1.propose."))
			if by == flow.EndedByRule {
				config.OnFailure = []flow.FailureRule{{Do: flow.OptionEnd}}
			}
			session := stage.Started(t, engine, config)
			synctest.Wait()
			r := stage.SessionRecord(t, session)
			switch by {
			case flow.EndedByPerson:
				require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: r.Inquiries[0].ID, Option: flow.OptionEnd}))
			case flow.EndedByHost:
				require.NoError(t, session.Stop(t.Context()))
			}
			r, err := session.Wait(t.Context())
			assert.Equal(t, by, r.EndedEarlyBy)
			require.NoError(t, err)
			assert.Equal(t, flow.StateCompleted, r.State)
			assert.NotEmpty(t, r.CutShort())
		}))
	}
}
