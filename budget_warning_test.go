package debate_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

func TestTheWarningTellsThresholdSpendAndTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := twoDebaters()
		config.Budget = &debate.Budget{Warn: debate.USD / 1000}
		engine, p := engineFor(config)
		engine.Store = &store.Memory{}
		slowly(p)
		record := run(t, engine, config)
		var warnings []debate.Event
		var spent debate.Money
		for event, err := range engine.Store.Read(t.Context(), record.ID, 0) {
			require.NoError(t, err)
			if spend := flow.SpendOf(event.Body); spend != nil && len(warnings) == 0 {
				spent += spend.Cost
			}
			if as[flow.Warning](event) != nil {
				warnings = append(warnings, event)
			}
		}
		require.Len(t, warnings, 1)
		w := as[flow.Warning](warnings[0])
		assert.Equal(t, flow.WarnCost, w.Kind)
		assert.Equal(t, debate.USD/1000, w.Threshold)
		assert.Equal(t, spent, w.Spend)
		assert.GreaterOrEqual(t, w.Spend, w.Threshold)
		assert.Greater(t, warnings[0].At.Sub(record.StartedAt), time.Second)
		assert.Equal(t, undisturbed(t, config), canonical(t, record), "it only tells")
	})
}

func TestAnAcknowledgementNeedsAWarning(t *testing.T) {
	config := twoDebaters()
	config.Budget = &debate.Budget{Warn: debate.USD / 1000}
	inBubble(t, config, func(t *testing.T, s *debate.Session, _ *scripted.Provider) {
		require.ErrorIs(t, s.Acknowledge(t.Context()), &debate.Error{Kind: provider.KindState})
		pass(6 * time.Second)
		require.NoError(t, s.Acknowledge(t.Context()))
		require.ErrorIs(t, s.Acknowledge(t.Context()), &debate.Error{Kind: provider.KindState})
		_, err := s.Wait(t.Context())
		require.NoError(t, err)
	})
}

func TestConfirmBlocksUntilSomebodyHasSeenTheWarning(t *testing.T) {
	for _, mode := range []debate.Mode{debate.Sequential, debate.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			config := twoDebaters()
			config.Mode, config.Budget = mode, &debate.Budget{Warn: debate.USD / 1000, Confirm: true}
			inBubble(t, config, func(t *testing.T, s *debate.Session, p *scripted.Provider) {
				_, err := s.Wait(t.Context())
				require.ErrorIs(t, err, debate.ErrAwaitingInput)
				calls := p.Calls()
				pass(time.Hour)
				assert.Equal(t, calls, p.Calls(), "nothing is asked")
				assert.Equal(t, flow.StateAwaitingInput, s.State())
				require.NoError(t, s.Acknowledge(t.Context()))
				record, err := s.Wait(t.Context())
				require.NoError(t, err)
				assert.Equal(t, undisturbed(t, config), canonical(t, record))
				assert.Len(t, record.Warnings, 1)
			})
		})
	}
}

// The warning may come with the last call that is made: nobody is kept waiting for what is paid already.
func TestConfirmAtTheVerdict(t *testing.T) {
	config := twoDebaters()
	engine, _ := engineFor(config)
	whole := run(t, engine, config).Spent().Cost
	config.Budget = &debate.Budget{Warn: whole, Confirm: true}
	engine, _ = engineFor(config)
	record := run(t, engine, config)
	assert.Equal(t, flow.StateCompleted, record.State)
	assert.Len(t, record.Warnings, 1)
}
