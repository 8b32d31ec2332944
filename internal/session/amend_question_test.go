package session_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A question about a failure is withdrawn when the policy that has asked it changes: the new one decides.
func TestAnAmendedPolicyDecidesAboutOpenQuestions(t *testing.T) {
	other := flow.Amendment{OnFailure: &[]flow.FailureRule{{Do: flow.OptionModel, Model: "test/spare"}}}
	for name, tc := range map[string]struct {
		change flow.Amendment
		failed debate.Kind   // of the error state
		asked  bool          // a person is asked again
		turns  int           // so far
		chosen []flow.Option // by rules
	}{
		"nobody is there any more":        {flow.Amendment{Unattended: new(true)}, provider.KindRefusal, false, 3, nil},
		"a rule that can be applied":      {other, "", false, 6, []flow.Option{flow.OptionModel}},
		"a rule that does not fit":        {flow.Amendment{OnFailure: &[]flow.FailureRule{}}, "", true, 3, nil},
		"a change of something else":      {flow.Amendment{TurnTimeout: new(flow.Duration(time.Minute))}, "", true, 3, nil},
		"nobody is there, and a rule too": {flow.Amendment{Unattended: new(true), OnFailure: other.OnFailure}, "", false, 6, []flow.Option{flow.OptionModel}},
	} {
		for _, remote := range []bool{false, true} {
			t.Run(name, stage.Bubbled(func(t *testing.T) {
				config := stage.TwoDebaters()
				config.Unattended = false
				engine, session, _ := stage.StrandedWith(t, config)
				if remote {
					require.NoError(t, engine.Control(t.Context(), session.ID(), tc.change))
				} else {
					require.NoError(t, session.Control(t.Context(), tc.change))
				}
				stage.Pass(time.Hour)
				synctest.Wait()
				record := stage.SessionRecord(t, session)
				assert.Len(t, record.Turns, tc.turns)
				assert.Equal(t, tc.chosen, byRules(record))
				switch {
				case tc.failed != "":
					require.Equal(t, flow.StateError, record.State)
					assert.Equal(t, tc.failed, record.Failure.Kind)
					assert.Empty(t, record.Inquiries)
				case tc.asked:
					assert.Equal(t, flow.StateAwaitingInput, record.State)
					require.Len(t, record.Inquiries, 1)
					require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionModel, Model: "test/spare"}))
					record = stage.Ended(t, session)
					assert.Len(t, record.Turns, 6)
				default:
					assert.Equal(t, flow.StateCompleted, record.State)
				}
			}))
		}
	}
}

// byRules returns what rules have chosen.
func byRules(record *debate.Record) (chosen []flow.Option) {
	for _, a := range record.Answers {
		if a.Rule {
			chosen = append(chosen, a.Option)
		}
	}
	return chosen
}

// The question of a cost warning is decided anew too, whatever changes: it is asked again, or a rule answers.
func TestAnAmendmentDecidesAboutTheCostWarningAnew(t *testing.T) {
	warned := debate.Budget{Warn: debate.USD / 1000, Confirm: true}
	for name, tc := range map[string]struct {
		change flow.Amendment
		asked  bool
		fails  bool
	}{
		"nobody is there any more":        {flow.Amendment{Unattended: new(true)}, false, true},
		"a rule that goes on":             {flow.Amendment{OnFailure: &[]flow.FailureRule{{Do: flow.OptionContinue}}}, false, false},
		"a budget with the same warning":  {flow.Amendment{Budget: &warned}, true, false},
		"a rule for something else alone": {flow.Amendment{OnFailure: &[]flow.FailureRule{{Do: flow.OptionSkip}}}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Unattended, config.Budget = false, &warned
			_, session, _ := stage.Stranded(t, config, func(*scripted.Provider) {})
			require.NoError(t, session.Control(t.Context(), tc.change))
			record, err := session.Wait(t.Context())
			if tc.asked {
				require.ErrorIs(t, err, debate.ErrAwaitingInput)
				require.Len(t, record.Inquiries, 1)
				require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}))
				record, err = session.Wait(t.Context())
			}
			if tc.fails {
				stage.RequireKind(t, err, provider.KindState)
				require.NoError(t, session.Retry(t.Context()), "which confirms it")
				record, err = session.Wait(t.Context())
			}
			require.NoError(t, err)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Empty(t, record.EndedEarlyBy)
		})
	}
}
