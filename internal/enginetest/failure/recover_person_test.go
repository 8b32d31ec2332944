package failure_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// judgedByAPerson is a debate of one round that waits for a person's assessment, or for the verdict.
func judgedByAPerson(t *testing.T, when debate.When) (*debate.Engine, *debate.Session, flow.Inquiry) {
	t.Helper()
	config := stage.TwoDebaters()
	config.Rounds = 1
	config.Judging.When = when
	config.Judging.Judges = []debate.JudgeConfig{{Name: "Zoe", Person: true}}
	engine, _ := stage.Engine(config)
	engine.Store = &store.Memory{}
	session := stage.Started(t, engine, config)
	record := stage.AwaitsInput(t, session)
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
			require.Error(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionEnd}), "a person who judges is not about a failure")
			require.NoError(t, session.Pause(t.Context()))
			_, session = hand(t, engine, session)
			require.NoError(t, session.Resume(t.Context()))
			record := stage.AwaitsInput(t, session)
			require.Len(t, record.Inquiries, 1)
			require.NoError(t, session.Pause(t.Context()))
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Text: stage.ByPerson(debate.KindAssessment, "Ada", "Ben")}), "in a pause")
			require.NoError(t, session.Resume(t.Context()))
			record = stage.AwaitsInput(t, session)
			require.Len(t, stage.View(record).Assessments, 1)
			require.Equal(t, "verdict.Zoe", record.Inquiries[0].ID)
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: "verdict.Zoe", Text: stage.ByPerson(debate.KindVerdict, "Ada", "Ben")}))
			record = stage.Ended(t, session)
			assert.Equal(t, "Ada", stage.View(record).Outcome().Winner)
		})
	}
}

func TestStopAndCancelWhileAPersonJudges(t *testing.T) {
	t.Run("stop at an assessment", func(t *testing.T) {
		_, session, q := judgedByAPerson(t, debate.EveryRound)
		require.NoError(t, session.Stop(t.Context()))
		record := stage.AwaitsInput(t, session)
		require.Len(t, record.Inquiries, 1)
		assert.Equal(t, "verdict.Zoe", record.Inquiries[0].ID)
		stage.RequireKind(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Text: "late"}), provider.KindState)
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: "verdict.Zoe", Text: stage.ByPerson(debate.KindVerdict, "Ben", "Ada")}))
		record = stage.Ended(t, session)
		assert.Equal(t, "Ben", stage.View(record).Outcome().Winner)
	})
	t.Run("stop at the verdict", func(t *testing.T) {
		_, session, q := judgedByAPerson(t, debate.AtEnd)
		require.NoError(t, session.Stop(t.Context()))
		record, err := session.Wait(t.Context())
		require.ErrorIs(t, err, debate.ErrAwaitingInput, "the verdict is still wanted")
		require.Len(t, record.Inquiries, 1)
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Text: stage.ByPerson(debate.KindVerdict, "Ben", "Ada")}))
		stage.Ended(t, session)
	})
	t.Run("cancel", func(t *testing.T) {
		_, session, q := judgedByAPerson(t, debate.AtEnd)
		require.NoError(t, session.Cancel(t.Context()))
		record := stage.Ended(t, session)
		assert.Equal(t, flow.StateCanceled, record.State)
		assert.Empty(t, record.Inquiries)
		stage.RequireKind(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Text: "late"}), provider.KindState)
	})
}

// Of a panel a model has failed and a person is asked: if the judge is dropped, the person's question stays open, for the
// verdict is wanted. The choice may be made in a pause.
func TestAPersonJudgesOnWithoutAJudge(t *testing.T) {
	for _, paused := range []bool{false, true} {
		t.Run(fmt.Sprintf("paused %t", paused), func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Rounds, config.Unattended = 1, false
			config.Judging.When, config.Judging.Quorum = debate.AtEnd, 2
			config.Judging.Judges = []debate.JudgeConfig{{Model: "test/judge"}, {Name: "Zoe", Person: true}}
			engine, p := stage.Engine(config)
			stage.Befall(p, provider.KindRefusal, stage.Requested("judge", "verdict"))
			session := stage.Started(t, engine, config)
			record := stage.AwaitsInput(t, session)
			require.Len(t, record.Inquiries, 2)
			i := slices.IndexFunc(record.Inquiries, func(q flow.Inquiry) bool { return len(q.Options) > 0 })
			if paused {
				require.NoError(t, session.Pause(t.Context()))
			}
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[i].ID, Option: flow.OptionDrop}))
			if paused {
				require.NoError(t, session.Resume(t.Context()))
			}
			record = stage.AwaitsInput(t, session)
			require.Len(t, record.Inquiries, 1)
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: "verdict.Zoe", Text: stage.ByPerson(debate.KindVerdict, "Ben", "Ada")}))
			record = stage.Ended(t, session)
			assert.Len(t, stage.View(record).Verdicts, 1)
			assert.Contains(t, stage.View(record).Outcome().Degraded, "1 of 2 judges have given a verdict: fewer than the quorum of 2")
		})
	}
}

// A person may choose to wait for a failure that does not pass by itself: the call is tried again and again, for as long as
// the patience lasts. Then the person is asked once more.
func TestAPersonChoosesToWait(t *testing.T) {
	for _, mended := range []bool{false, true} {
		t.Run(fmt.Sprintf("mended %v", mended), stage.Bubbled(func(t *testing.T) {
			config := stage.Attended()
			config.Patience = 10 * time.Minute
			engine, p := stage.Engine(config)
			cut := stage.Befall(p, provider.KindAuthentication, stage.Said("Ben", 2))
			session := stage.Started(t, engine, config)
			record, err := session.Wait(t.Context())
			q := stage.Question(t, record, err)
			assert.Equal(t, 5, p.Calls(), "authentication does not pass by itself: it is asked about at once")
			began := time.Now()
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionWait}))
			if mended {
				time.AfterFunc(3*time.Minute, func() { cut.Over.Store(true) })
			}
			record, err = session.Wait(t.Context())
			waited := time.Since(began)
			tries := 0
			for _, call := range intents(stage.Logged(t, engine, record.ID)) {
				tries += strings.Count(call, "r2.rebuttal.Ben")
			}
			assert.Greater(t, tries, 4)
			if mended {
				require.NoError(t, err)
				assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
				assert.InDelta(t, 3.5, waited.Minutes(), 1)
				return
			}
			again := stage.Question(t, record, err)
			assert.NotEqual(t, q.ID, again.ID)
			assert.Equal(t, provider.KindAuthentication, again.Failure.Kind)
			assert.InDelta(t, 9.5, waited.Minutes(), 1)
		}))
	}
}
