package failure_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// twoOf begins a debate that asks what is to be done about Ben, who has failed, unless rules say it. It returns two engines of its store.
func twoOf(t *testing.T, rules ...flow.FailureRule) (engines [2]*debate.Engine, session *debate.Session, record *debate.Record) {
	t.Helper()
	config, shared := stage.TwoDebaters(), &store.Memory{}
	config.Unattended, config.OnFailure = false, rules
	for i := range engines {
		engine, script := stage.Engine(config)
		stage.Befall(script, provider.KindAuthentication, stage.Said("Ben", 1))
		engine.Store, engines[i] = shared, engine
	}
	session, err := engines[0].Start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	record, err = session.Wait(t.Context())
	if len(rules) == 0 {
		require.ErrorIs(t, err, debate.ErrAwaitingInput)
	}
	return engines, session, record
}

// The error of a second answer says which person was first, when, and with what: in the same session, in another process, after a
// restart and after the end of the debate.
func TestASecondAnswerLearnsWhoWasFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engines, session, record := twoOf(t)
		id := record.Inquiries[0].ID
		first := flow.Answer{Inquiry: id, Option: flow.OptionModel, Model: "test/spare", Person: "Mia", Rule: true}
		for name, wrong := range map[string]string{"two lines": "Mia\nBen", "long": strings.Repeat("m", flow.MaxReason+1), "no UTF-8": "\xff"} {
			refused := first
			refused.Person = wrong
			failure := stage.RequireKind(t, engines[1].Control(t.Context(), record.ID, refused), provider.KindValidation)
			assert.Equal(t, "person", failure.Field, name)
		}
		stage.Pass(time.Hour)
		at := time.Now()
		require.NoError(t, engines[1].Control(t.Context(), record.ID, first))
		second := func(when string, answer func() error) {
			stage.Pass(time.Minute)
			err := answer()
			stage.RequireKind(t, err, provider.KindState)
			found, ok := errors.AsType[*flow.AnsweredError](err)
			require.True(t, ok, "%s: %v", when, err)
			assert.Equal(t, []any{"Mia", false, flow.OptionModel, "test/spare"},
				[]any{found.Answer.Person, found.Answer.Rule, found.Answer.Option, found.Answer.Model}, when)
			assert.WithinDuration(t, at, found.At, 0, when)
			assert.ErrorContains(t, err, fmt.Sprintf("inquiry %q was answered by \"Mia\" at %s with model test/spare",
				id, at.UTC().Format(time.RFC3339)), when)
		}
		other := flow.Answer{Inquiry: id, Option: flow.OptionRetry, Person: "Ben"}
		second("in another engine", func() error { return engines[1].Control(t.Context(), record.ID, other) })
		second("in the session", func() error { return session.Answer(t.Context(), flow.Answer{Inquiry: id, Option: flow.OptionRetry}) })
		second("as a text", func() error { return session.Answer(t.Context(), flow.Answer{Inquiry: id, Text: "Retry."}) })
		require.NoError(t, session.Close())
		again := stage.Reopen(t, engines[1], record.ID)
		defer again.Close()
		second("after a restart", func() error { return again.Answer(t.Context(), flow.Answer{Inquiry: id, Option: flow.OptionRetry}) })
		stage.Ended(t, again)
		second("after the end", func() error { return again.Answer(t.Context(), flow.Answer{Inquiry: id, Option: flow.OptionRetry}) })
		second("after the end, in another engine", func() error { return engines[0].Control(t.Context(), record.ID, other) })

		_, err := engines[1].Redact(t.Context(), record.ID, flow.Redaction{Texts: []string{"Mia"}, With: "somebody"})
		require.NoError(t, err)
		err = engines[0].Control(t.Context(), record.ID, other)
		require.ErrorContains(t, err, `was answered by "somebody" at `, "a name can be removed")
	})
}

// Calls that fail alike share an inquiry. An answer for one actor leaves it open for the other one. A second answer for the same
// actor is refused with the first, and so is every answer for both once the inquiry is closed.
func TestASecondAnswerForOneOfTwoLearnsWhoWasFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.Crew(4)
		config.Mode, config.Unattended = debate.Simultaneous, false
		engine, p := stage.Engine(config)
		engine.Store = &store.Memory{}
		stage.Abiding(p)
		stage.Befall(p, provider.KindAuthentication, func(req *provider.Request) bool {
			return req.Model == "debater" && (req.Self == "Ada" || req.Self == "Dan")
		})
		session := stage.Started(t, engine, config)
		record := stage.AwaitsInput(t, session)
		require.Len(t, record.Inquiries, 1)
		require.Len(t, record.Inquiries[0].About, 2)
		answer := func(person string, option flow.Option, by string) error {
			return engine.Control(t.Context(), record.ID,
				flow.Answer{Inquiry: record.Inquiries[0].ID, Option: option, By: by, Person: person})
		}
		second := func(by, first string) {
			for _, option := range []flow.Option{flow.OptionDrop, flow.OptionSkip, flow.OptionRetry} {
				err := answer("Zoe", option, by)
				stage.RequireKind(t, err, provider.KindState)
				found, ok := errors.AsType[*flow.AnsweredError](err)
				require.True(t, ok, "%s %s: %v", option, by, err)
				assert.Equal(t, []string{first, by, string(flow.OptionDrop)},
					[]string{found.Answer.Person, found.Answer.By, string(found.Answer.Option)})
			}
		}
		require.NoError(t, answer("Mia", flow.OptionDrop, "Dan"))
		second("Dan", "Mia")
		failure := stage.RequireKind(t, answer("Pat", flow.OptionDrop, "Eve"), provider.KindValidation)
		assert.Equal(t, "by", failure.Field, "nobody has answered for her")
		require.NoError(t, answer("Pat", flow.OptionDrop, "Ada"))
		second("Dan", "Mia")
		second("Ada", "Pat")
		require.ErrorContains(t, answer("Zoe", flow.OptionRetry, ""), `was answered by "Pat" at `)
	})
}

func TestAnAnswerAfterARuleLearnsOfTheRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, session, record := twoOf(t, flow.FailureRule{Do: flow.OptionModel, Model: "test/spare"})
		require.NotEmpty(t, record.Answers)
		err := session.Answer(t.Context(), flow.Answer{Inquiry: record.Answers[0].Inquiry, Option: flow.OptionRetry})
		stage.RequireKind(t, err, provider.KindState)
		require.ErrorContains(t, err, "was answered by a rule at ")
		require.ErrorContains(t, err, " with model test/spare")
		err = session.Answer(t.Context(), flow.Answer{Inquiry: "ask.nothing", Option: flow.OptionRetry})
		require.ErrorContains(t, err, `no inquiry "ask.nothing" is open`)
		assert.Equal(t, "Correct the id: no question of it is open, and none was answered.", stage.RequireKind(t, err, provider.KindState).Hint())
	})
}

// Two people answer at once, each in a process of their own: one answer counts, and the other person learns whose.
func TestOfTwoAnswersAtOnceOneLearnsOfTheOther(t *testing.T) {
	for range 20 {
		engines, _, record := twoOf(t)
		names, errs := [2]string{"Mia", "Pat"}, [2]error{}
		var both sync.WaitGroup
		for i := range engines {
			both.Go(func() {
				errs[i] = engines[i].Control(context.WithoutCancel(t.Context()), record.ID,
					flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionModel, Model: "test/spare", Person: names[i]})
			})
		}
		both.Wait()
		first := 0
		if errs[0] != nil {
			first = 1
		}
		require.NoError(t, errs[first])
		found, ok := errors.AsType[*flow.AnsweredError](errs[1-first])
		require.True(t, ok, "%v", errs[1-first])
		assert.Equal(t, names[first], found.Answer.Person)
	}
}
