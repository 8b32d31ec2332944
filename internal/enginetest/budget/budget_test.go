package budget_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func TestTheBudget(t *testing.T) {
	t.Run("warns once", func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Budget = &debate.Budget{Warn: debate.USD / 1000}
		engine, _ := stage.Engine(config)
		record := stage.Run(t, engine, config)
		require.Len(t, record.Warnings, 1)
		assert.Equal(t, flow.WarnCost, record.Warnings[0].Kind)
	})
	t.Run("waits to be acknowledged", func(t *testing.T) {
		config := stage.Attended()
		config.Budget = &debate.Budget{Warn: debate.USD / 1000, Confirm: true}
		engine, _ := stage.Engine(config)
		session := stage.Started(t, engine, config)
		stage.AwaitsInput(t, session)
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}))
		require.Error(t, session.Answer(t.Context(), flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}))
		record := stage.Ended(t, session)
		assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
	})
	// Everybody speaks for as long as is allowed, and each call uses about what it may use at most.
	lavish := func(config debate.Config) (*debate.Engine, debate.Money) {
		engine, p := stage.Engine(config)
		stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
			if req.Schema == nil {
				r.Text = strings.Repeat(r.Text, 1+8*req.MaxTokens/len(r.Text))
			}
			r.Usage = provider.Usage{Output: req.MaxTokens}
			for _, text := range req.Chat() {
				r.Usage.Input += len(text)
			}
		})
		estimate := stage.Estimated(t, engine, config)
		return engine, estimate.FirstRound
	}
	t.Run("a soft limit concludes", func(t *testing.T) {
		config := stage.TwoDebaters()
		config.MaxTokens, config.Rounds = 300, 12
		engine, least := lavish(config)
		config.Budget = &debate.Budget{Soft: least}
		record := stage.Run(t, engine, config)
		assert.Equal(t, flow.StateCompleted, record.State)
		assert.NotNil(t, stage.View(record).Verdict)
		assert.GreaterOrEqual(t, len(record.Turns), 2, "one round is certain")
		assert.Less(t, len(record.Turns), 24)
		assert.Equal(t, flow.EndSoftLimit, record.Reason)
	})
	t.Run("a hard limit is never passed", func(t *testing.T) {
		config := stage.TwoDebaters()
		config.MaxTokens, config.Rounds = 300, 12
		engine, least := lavish(config)
		stopped, completed := 0, 0
		for limit := least; limit < 80*least; limit += 3 * least {
			config.Budget = &debate.Budget{Hard: limit}
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			record, err := session.Wait(t.Context())
			assert.LessOrEqual(t, record.Spent().Cost+record.Spent().AtMost, limit)
			if err != nil {
				require.ErrorIs(t, err, &debate.Error{Kind: provider.KindCostLimit})
				assert.GreaterOrEqual(t, len(stage.View(record).Assessments), 1, "one round is certain")
				stopped++
			} else {
				completed++
			}
			session.Close()
		}
		assert.Positive(t, stopped)
		assert.Positive(t, completed)
	})
}
