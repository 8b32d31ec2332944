package log_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider/scripted"
)

// What the edit of a fork changes wins over the amendments, and the choices of models, of the copied part. The rest of
// them holds.
func TestTheEditOfAForkWinsOverAmendments(t *testing.T) {
	spare := map[string]flow.ModelChoice{"Ben": {Model: "test/spare"}}
	policy := []flow.FailureRule{{Do: flow.OptionSkip}, {Do: flow.OptionFail}}
	for name, tc := range map[string]struct {
		amended flow.Amendment
		edit    func(*debate.Config)
		facts   int // amendments in the fork's log
		ben     string
		check   func(t *testing.T, settings *flow.Settings)
	}{
		"a budget and a model": {
			flow.Amendment{Budget: &debate.Budget{HardCalls: 6}, Models: spare, Patience: new(flow.Duration(time.Hour))},
			func(c *debate.Config) { c.Budget, c.Participants[1].Model = &debate.Budget{HardCalls: 50}, "test/last" }, 2, "test/last",
			func(t *testing.T, settings *flow.Settings) {
				assert.Equal(t, 50, settings.Budget.HardCalls)
				assert.Equal(t, time.Hour, settings.Patience, "nobody has edited that")
			},
		},
		"no budget": {
			flow.Amendment{Budget: &debate.Budget{HardCalls: 6}},
			func(c *debate.Config) { c.Budget = nil }, 2, "test/debater",
			func(t *testing.T, settings *flow.Settings) { assert.Equal(t, debate.Budget{}, *settings.Budget) },
		},
		"nothing that was amended": {
			flow.Amendment{Budget: &debate.Budget{HardCalls: 60}, Models: spare},
			func(c *debate.Config) { c.Participants[0].Instructions = "Speak in verse." }, 1, "test/spare",
			func(t *testing.T, settings *flow.Settings) { assert.Equal(t, 60, settings.Budget.HardCalls) },
		},
		"what is in force already": {
			flow.Amendment{Budget: &debate.Budget{HardCalls: 60}},
			func(c *debate.Config) { c.Budget = &debate.Budget{HardCalls: 60} }, 1, "test/debater",
			func(t *testing.T, settings *flow.Settings) { assert.Equal(t, 60, settings.Budget.HardCalls) },
		},
		"policies, time-outs and rounds": {
			flow.Amendment{
				Budget: &debate.Budget{}, OnFailure: &[]flow.FailureRule{{Do: flow.OptionEnd}}, Patience: new(flow.Duration(time.Hour)),
				RoundTimeout: new(flow.Duration(time.Hour)), TurnTimeout: new(flow.Duration(time.Second)),
				Rounds: new(4), Context: new(flow.ContextTruncate), Summarizer: new("test/spare"), AutoSummary: new(true),
				Retry: &debate.RetryPolicy{Base: time.Minute},
			},
			func(c *debate.Config) {
				c.Budget, c.OnFailure, c.Patience, c.RoundTimeout = nil, policy, 2*time.Hour, 2*time.Hour
				c.TurnTimeout, c.Rounds, c.Context, c.Summarizer = time.Minute, 2, flow.ContextSliding, flow.NoSummarizer
				c.Retry = &debate.RetryPolicy{Base: time.Second}
			}, 2, "test/debater",
			func(t *testing.T, settings *flow.Settings) {
				assert.Equal(t, policy, settings.OnFailure)
				assert.Equal(t, []time.Duration{2 * time.Hour, 2 * time.Hour, time.Minute}, []time.Duration{
					settings.Patience, settings.RoundTimeout, settings.TurnTimeout,
				})
				assert.Equal(t, []any{2, flow.ContextSliding, flow.NoSummarizer, true, time.Second}, []any{
					settings.Rounds, settings.Context, settings.Summarizer, settings.AutoSummary, settings.Retry.Base,
				})
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Budget = &debate.Budget{HardCalls: 5}
			engine, session, _ := stage.Stranded(t, config, func(*scripted.Provider) {})
			require.NoError(t, session.Control(t.Context(), tc.amended))
			record := stage.SessionRecord(t, session)
			fork, err := engine.Fork(t.Context(), session.ID(), record.Seq, debate.Editing(tc.edit))
			require.NoError(t, err)
			defer fork.Close()
			require.NoError(t, fork.Retry(t.Context()))
			record = stage.Ended(t, fork)
			tc.check(t, record.Settings())
			assert.Equal(t, tc.ben, record.Turns[len(record.Turns)-1].Model)
			facts := 0
			for _, e := range stage.Logged(t, engine, fork.ID()) {
				if body.As[flow.Amendment](e) != nil {
					facts++
				}
			}
			assert.Equal(t, tc.facts, facts)
			assert.Equal(t, flow.StateCompleted, record.State)
		})
	}
}

// The model that a person has chosen in the copied part gives way too.
func TestTheEditOfAForkWinsOverAChosenModel(t *testing.T) {
	config := stage.TwoDebaters()
	config.Unattended = false
	engine, session, record := stage.StrandedWith(t, config)
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionModel, Model: "test/spare"}))
	record = stage.Ended(t, session)
	require.Equal(t, "test/spare", record.Turns[5].Model)
	turns := 0
	var seq int64
	for _, e := range stage.Logged(t, engine, session.ID()) {
		if body.As[flow.Turn](e) != nil {
			turns++
		}
		if turns == 4 && seq == 0 {
			seq = e.Seq
		}
	}
	for model, edit := range map[string]func(*debate.Config){
		"test/last":  func(c *debate.Config) { c.Participants[1].Model = "test/last" },
		"test/spare": func(*debate.Config) {},
	} {
		fork, err := engine.Fork(t.Context(), session.ID(), seq, debate.Editing(edit))
		require.NoError(t, err)
		record := stage.Ended(t, fork)
		assert.Equal(t, model, record.Turns[5].Model)
		require.NoError(t, fork.Close())
	}
}
