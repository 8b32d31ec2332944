package flow_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// TestLegalIsWhatACoreTakes: at every event of conversations that fail, ask, pause and end, what is legal is what is not refused.
func TestLegalIsWhatACoreTakes(t *testing.T) {
	controls := map[flow.Trigger]flow.Signal{
		flow.TriggerPause: flow.Pause{}, flow.TriggerResume: flow.Resume{}, flow.TriggerRetry: flow.Retry{}, flow.TriggerStop: flow.Stop{},
		flow.TriggerCancel: flow.Cancel{}, stage.Noted: flow.Sent{Trigger: stage.Noted},
	}
	seen := make(map[flow.State]bool)
	follow := func(t *testing.T, engine *debate.Engine, id string) {
		t.Helper()
		log := stage.LogOf(t, engine, id)
		for n := 1; n <= len(log.Events); n++ {
			record := stage.CoreOf(t, engine, id, log.Events[:n]).Record()
			seen[record.State] = true
			for on, signal := range controls {
				_, err := stage.CoreOf(t, engine, id, log.Events[:n]).StepRemote(flow.Input{At: record.LastAt, Signal: signal})
				assert.Equal(t, err == nil, slices.Contains(record.Legal(), on), "%s in state %s: %v", on, record.State, err)
			}
		}
	}
	for _, unattended := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			engine, source, config := stage.WithFlow(stage.Notes())
			config.Unattended = unattended
			o := stage.Befall(source, provider.KindAuthentication, stage.Said("Ben", 2))
			stage.Slowly(source)
			session, err := engine.Start(t.Context(), stage.InFlow(engine, config))
			require.NoError(t, err)
			defer session.Close()
			record, err := session.Wait(t.Context())
			require.Error(t, err)
			o.Over.Store(true)
			if unattended {
				require.NoError(t, session.Retry(t.Context()))
			} else {
				answer := flow.Answer{Inquiry: stage.Question(t, record, err).ID, Option: flow.OptionRetry}
				require.NoError(t, session.Answer(t.Context(), answer))
			}
			require.NoError(t, session.Pause(t.Context()))
			require.NoError(t, session.Resume(t.Context()))
			stage.Ended(t, session)
			follow(t, engine, session.ID())
		})
	}
	for _, state := range []flow.State{flow.StatePaused, flow.StateError, flow.StateAwaitingInput, flow.StateCompleting, flow.StateCompleted} {
		assert.True(t, seen[state], state)
	}
}

// TestWhatIsReopened: a conversation whose conclusion is made, and none that was ended without one.
func TestWhatIsReopened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		engine, source := stage.Engine(config)
		assert.Equal(t, []flow.Trigger{flow.TriggerReopen}, stage.Run(t, engine, config).Legal())
		stage.Slowly(source)
		session := stage.Started(t, engine, config)
		require.NoError(t, session.Stop(t.Context())) // before the first turn
		assert.Empty(t, stage.Ended(t, session).Legal())
	})
}

// TestEveryOptionHasAMeaning: those who choose read what it does.
func TestEveryOptionHasAMeaning(t *testing.T) {
	for _, option := range []flow.Option{
		flow.OptionRetry, flow.OptionWait, flow.OptionModel, flow.OptionSummarize, flow.OptionTruncate, flow.OptionSkip, flow.OptionDrop,
		flow.OptionEnd, flow.OptionContinue, flow.OptionApprove, flow.OptionDeny, flow.OptionAlways, flow.OptionAgain, flow.OptionDone,
		flow.OptionTell, flow.OptionStandIn,
	} {
		assert.NotEqual(t, string(option), option.Meaning())
	}
	assert.Equal(t, "two lines", flow.Option("two\nlines").Meaning())
}
