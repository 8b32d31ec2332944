package budget_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

func TestTheWarningTellsThresholdSpendAndTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Budget = &debate.Budget{Warn: debate.USD / 1000}
		engine, p := stage.Engine(config)
		engine.Store = &store.Memory{}
		stage.Slowly(p)
		record := stage.Run(t, engine, config)
		var warnings []debate.Event
		var spent debate.Money
		for event, err := range engine.Store.Read(t.Context(), record.ID, 0) {
			require.NoError(t, err)
			if spend := flow.SpendOf(event.Body); spend != nil && len(warnings) == 0 {
				spent += spend.Cost
			}
			if body.As[flow.Warning](event) != nil {
				warnings = append(warnings, event)
			}
		}
		require.Len(t, warnings, 1)
		w := body.As[flow.Warning](warnings[0])
		assert.Equal(t, flow.WarnCost, w.Kind)
		assert.Equal(t, debate.USD/1000, w.Threshold)
		assert.Equal(t, spent, w.Spend)
		assert.GreaterOrEqual(t, w.Spend, w.Threshold)
		assert.Greater(t, warnings[0].At.Sub(record.StartedAt), time.Second)
		assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record), "it only tells")
	})
}

// Only a debate that waits with its warning can be acknowledged.
func TestAnAcknowledgementNeedsAWarningThatWaits(t *testing.T) {
	for name, confirm := range map[string]bool{"it waits": true, "it only tells": false} {
		t.Run(name, func(t *testing.T) {
			config := stage.Attended()
			config.Budget = &debate.Budget{Warn: debate.USD / 1000, Confirm: confirm}
			stage.InBubble(t, config, func(t *testing.T, s *debate.Session, _ *scripted.Provider) {
				require.ErrorIs(t, s.Answer(t.Context(), flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}), &debate.Error{Kind: provider.KindState})
				stage.Pass(6 * time.Second)
				assert.Equal(t, confirm, s.State() == flow.StateAwaitingInput)
				if confirm {
					require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}))
				}
				require.ErrorIs(t, s.Answer(t.Context(), flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}), &debate.Error{Kind: provider.KindState})
				record := stage.Ended(t, s)
				assert.Len(t, record.Warnings, 1)
				assert.Equal(t, confirm, len(record.Answers) == 1)
			})
		})
	}
}

// A person may end the debate at the warning. What was said until then is judged.
func TestAPersonEndsItAtTheWarning(t *testing.T) {
	config := stage.Attended()
	config.Budget = &debate.Budget{Warn: debate.USD / 1000, Confirm: true}
	stage.InBubble(t, config, func(t *testing.T, s *debate.Session, _ *scripted.Provider) {
		record := stage.AwaitsInput(t, s)
		require.Len(t, record.Inquiries, 1)
		q := record.Inquiries[0]
		assert.Equal(t, flow.InquiryCost, q.ID)
		assert.Equal(t, flow.KindConfirm, q.Kind)
		assert.Equal(t, []debate.Option{flow.OptionContinue, flow.OptionEnd}, q.Options)
		assert.Contains(t, q.Question, record.Warnings[0].Evidence)
		spoken := len(record.Turns)
		require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionEnd}))
		record = stage.Ended(t, s)
		assert.Equal(t, flow.StateCompleted, record.State)
		assert.Equal(t, flow.EndHost, record.Reason)
		assert.Equal(t, flow.EndedByPerson, record.EndedEarlyBy)
		assert.Equal(t, "ended at the cost warning: "+record.Warnings[0].Evidence, record.Evidence)
		assert.Len(t, record.Turns, spoken)
		assert.NotNil(t, stage.View(record).Verdict)
	})
}

// An amendment of the budget asks the same question anew. The answer before is not its own: if the question is withdrawn, nobody has
// answered it.
func TestACostWarningThatIsAskedAnewHasNoAnswer(t *testing.T) {
	budget := &debate.Budget{Warn: debate.USD / 1000, Confirm: true}
	for name, withdraw := range map[string]func(ctx context.Context, s *debate.Session) error{
		"by a stop": func(ctx context.Context, s *debate.Session) error { return s.Stop(ctx) },
		"by an amendment": func(ctx context.Context, s *debate.Session) error {
			return s.Control(ctx, flow.Amendment{Budget: &debate.Budget{Warn: budget.Warn}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.Attended()
			config.Budget = budget
			stage.InBubble(t, config, func(t *testing.T, s *debate.Session, _ *scripted.Provider) {
				stage.AwaitsInput(t, s)
				require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}))
				require.ErrorContains(t, s.Answer(t.Context(), flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}), "was answered by a person")
				require.NoError(t, s.Control(t.Context(), flow.Amendment{Budget: budget}))
				record := stage.AwaitsInput(t, s)
				require.Len(t, record.Inquiries, 1)
				require.Equal(t, flow.InquiryCost, record.Inquiries[0].ID)
				require.NoError(t, withdraw(t.Context(), s))
				err := s.Answer(t.Context(), flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionEnd})
				stage.RequireKind(t, err, provider.KindState)
				require.ErrorContains(t, err, `no inquiry "confirm.cost" is open`)
			})
		})
	}
}

func TestConfirmBlocksUntilSomebodyHasSeenTheWarning(t *testing.T) {
	for _, mode := range []debate.Mode{debate.Sequential, debate.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			config := stage.Attended()
			config.Mode, config.Budget = mode, &debate.Budget{Warn: debate.USD / 1000, Confirm: true}
			stage.InBubble(t, config, func(t *testing.T, s *debate.Session, p *scripted.Provider) {
				record := stage.AwaitsInput(t, s)
				require.Len(t, record.Inquiries, 1)
				assert.Equal(t, flow.InquiryCost, record.Inquiries[0].ID)
				calls := p.Calls()
				stage.Pass(time.Hour)
				assert.Equal(t, calls, p.Calls(), "nothing is asked")
				assert.Equal(t, flow.StateAwaitingInput, s.State())
				require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}))
				record = stage.Ended(t, s)
				assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
				assert.Len(t, record.Warnings, 1)
			})
		})
	}
}

// The warning may come with the last call that is made: nobody is kept waiting for what is paid already.
func TestConfirmAtTheVerdict(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	whole := stage.Run(t, engine, config).Spent().Cost
	config.Budget = &debate.Budget{Warn: whole, Confirm: true}
	engine, _ = stage.Engine(config)
	record := stage.Run(t, engine, config)
	assert.Equal(t, flow.StateCompleted, record.State)
	assert.Len(t, record.Warnings, 1)
}

// The warning of a start looks at no more than a hundred rounds: each takes the longer, the more there are.
func TestTheWarningOfALongDebateCountsItsFirstRounds(t *testing.T) {
	for rounds, counted := range map[int]int{100: 100, 1000: 100} {
		config := stage.TwoDebaters()
		config.Rounds, config.Budget = rounds, &debate.Budget{Hard: debate.USD}
		f, most := debate.DebateFlow(), 0
		f.Name = "counted"
		walk := f.Estimate
		f.Estimate = func(s *flow.Estimator, rounds int) error {
			most = max(most, rounds)
			return walk(s, rounds)
		}
		engine, _ := stage.Engine(config)
		engine.Flows = map[string]*debate.Flow{f.Name: f}
		record := stage.BegunBy(t, engine, flow.Named(f.Name, config)).Record()
		assert.Equal(t, counted, most)
		require.NotEmpty(t, record.Warnings)
		says := record.Warnings[len(record.Warnings)-1].Evidence
		assert.Equal(t, rounds > counted, strings.Contains(says, "of 1000 rounds the first 100 are counted"), says)
	}
}
