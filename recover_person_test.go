package debate_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// judgedByAPerson is a debate of one round that waits for a person's assessment, or for the verdict.
func judgedByAPerson(t *testing.T, when debate.When) (*debate.Engine, *debate.Session, flow.Inquiry) {
	t.Helper()
	config := twoDebaters()
	config.Rounds = 1
	config.Judging.When = when
	config.Judging.Judges = []debate.JudgeConfig{{Name: "Zoe", Person: true}}
	engine, _ := engineFor(config)
	engine.Store = &store.Memory{}
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	record, err := session.Wait(t.Context())
	require.ErrorIs(t, err, debate.ErrAwaitingInput)
	require.Len(t, record.Inquiries, 1)
	return engine, session, record.Inquiries[0]
}

func TestAPersonWhoJudgesCanBeAnsweredForAfterAPause(t *testing.T) {
	for name, hand := range handovers() {
		t.Run(name, func(t *testing.T) {
			engine, session, q := judgedByAPerson(t, debate.EveryRound)
			assert.Equal(t, "Zoe", q.To)
			assert.Empty(t, q.Options)
			assert.True(t, json.Valid(q.Schema))
			require.Error(t, session.Choose(t.Context(), q.ID, flow.OptionEnd), "a person who judges is not about a failure")
			require.NoError(t, session.Pause(t.Context()))
			_, session = hand(t, engine, session)
			require.NoError(t, session.Resume(t.Context()))
			record, err := session.Wait(t.Context())
			require.ErrorIs(t, err, debate.ErrAwaitingInput)
			require.Len(t, record.Inquiries, 1)
			require.NoError(t, session.Pause(t.Context()))
			require.NoError(t, session.Answer(t.Context(), q.ID, judgement([]string{"Ada", "Ben"}, true)), "in a pause")
			require.NoError(t, session.Resume(t.Context()))
			record, err = session.Wait(t.Context())
			require.ErrorIs(t, err, debate.ErrAwaitingInput)
			require.Len(t, view(record).Assessments, 1)
			require.Equal(t, "verdict.Zoe", record.Inquiries[0].ID)
			require.NoError(t, session.Answer(t.Context(), "verdict.Zoe", verdict([]string{"Ada", "Ben"})))
			record, err = session.Wait(t.Context())
			require.NoError(t, err)
			assert.Equal(t, "Ada", view(record).Outcome().Winner)
		})
	}
}

func TestStopAndCancelWhileAPersonJudges(t *testing.T) {
	t.Run("stop at an assessment", func(t *testing.T) {
		_, session, q := judgedByAPerson(t, debate.EveryRound)
		require.NoError(t, session.Stop(t.Context()))
		record, err := session.Wait(t.Context())
		require.ErrorIs(t, err, debate.ErrAwaitingInput)
		require.Len(t, record.Inquiries, 1)
		assert.Equal(t, "verdict.Zoe", record.Inquiries[0].ID)
		requireKind(t, session.Answer(t.Context(), q.ID, "late"), provider.KindState)
		require.NoError(t, session.Answer(t.Context(), "verdict.Zoe", verdict([]string{"Ben", "Ada"})))
		record, err = session.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "Ben", view(record).Outcome().Winner)
	})
	t.Run("stop at the verdict", func(t *testing.T) {
		_, session, q := judgedByAPerson(t, debate.AtEnd)
		require.NoError(t, session.Stop(t.Context()))
		record, err := session.Wait(t.Context())
		require.ErrorIs(t, err, debate.ErrAwaitingInput, "the verdict is still wanted")
		require.Len(t, record.Inquiries, 1)
		require.NoError(t, session.Answer(t.Context(), q.ID, verdict([]string{"Ben", "Ada"})))
		_, err = session.Wait(t.Context())
		require.NoError(t, err)
	})
	t.Run("cancel", func(t *testing.T) {
		_, session, q := judgedByAPerson(t, debate.AtEnd)
		require.NoError(t, session.Cancel(t.Context()))
		record, err := session.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, flow.StateCanceled, record.State)
		assert.Empty(t, record.Inquiries)
		requireKind(t, session.Answer(t.Context(), q.ID, "late"), provider.KindState)
	})
}

// Of a panel a model has failed and a person is asked: "end" leaves the person's question open, for the verdict is wanted.
func TestEndIsChosenWhileAPersonJudges(t *testing.T) {
	config := twoDebaters()
	config.Rounds = 1
	config.Judging.When, config.Judging.Quorum = debate.AtEnd, 2
	config.Judging.Judges = []debate.JudgeConfig{{Model: "test/judge"}, {Name: "Zoe", Person: true}}
	engine, p := engineFor(config)
	befall(p, provider.KindRefusal, requested("judge", "verdict"))
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	record, err := session.Wait(t.Context())
	require.ErrorIs(t, err, debate.ErrAwaitingInput)
	require.Len(t, record.Inquiries, 2)
	i := slices.IndexFunc(record.Inquiries, func(q flow.Inquiry) bool { return q.About != "" })
	require.NoError(t, session.Choose(t.Context(), record.Inquiries[i].ID, flow.OptionEnd))
	record, err = session.Wait(t.Context())
	require.ErrorIs(t, err, debate.ErrAwaitingInput)
	require.Len(t, record.Inquiries, 1)
	require.NoError(t, session.Answer(t.Context(), "verdict.Zoe", verdict([]string{"Ben", "Ada"})))
	record, err = session.Wait(t.Context())
	require.NoError(t, err)
	assert.Len(t, view(record).Verdicts, 1)
	assert.Contains(t, view(record).Outcome().Degraded, "1 of 2 judges have given a verdict: fewer than the quorum of 2")
}
