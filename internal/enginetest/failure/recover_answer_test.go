package failure_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func TestWrongAnswersAreRefusedAndChangeNothing(t *testing.T) {
	config := stage.TwoDebaters()
	config.Unattended = false
	engine, p := stage.Engine(config)
	stage.Befall(p, provider.KindAuthentication, stage.Said("Ben", 1))
	session := stage.Started(t, engine, config)
	record := stage.AwaitsInput(t, session)
	id := record.Inquiries[0].ID
	for name, tc := range map[string]struct {
		answer flow.Answer
		kind   debate.Kind
		field  string
	}{
		"no such inquiry":      {flow.Answer{Inquiry: "ask.nothing.1", Option: flow.OptionRetry}, provider.KindState, ""},
		"the call's id":        {flow.Answer{Inquiry: "r1.opening.Ben", Option: flow.OptionRetry}, provider.KindState, ""},
		"no inquiry":           {flow.Answer{Option: flow.OptionRetry}, provider.KindState, ""},
		"not offered":          {flow.Answer{Inquiry: id, Option: flow.OptionContinue}, provider.KindValidation, "option"},
		"a judge's":            {flow.Answer{Inquiry: id, Option: flow.OptionSummarize}, provider.KindValidation, "option"},
		"unknown":              {flow.Answer{Inquiry: id, Option: "dance\n\x00"}, provider.KindValidation, "option"},
		"none":                 {flow.Answer{Inquiry: id}, provider.KindValidation, "option"},
		"no model":             {flow.Answer{Inquiry: id, Option: flow.OptionModel}, provider.KindValidation, "model"},
		"a model's half":       {flow.Answer{Inquiry: id, Option: flow.OptionModel, Model: "debater"}, provider.KindValidation, "model"},
		"a model of two lines": {flow.Answer{Inquiry: id, Option: flow.OptionModel, Model: "test/\x1b[31m\n"}, provider.KindValidation, "model"},
		"a model in no UTF-8":  {flow.Answer{Inquiry: id, Option: flow.OptionModel, Model: "test/\xff"}, provider.KindValidation, "model"},
		"a model too long":     {flow.Answer{Inquiry: id, Option: flow.OptionModel, Model: "test/" + strings.Repeat("a", 300)}, provider.KindValidation, "model"},
		"an unknown provider":  {flow.Answer{Inquiry: id, Option: flow.OptionModel, Model: "other/debater"}, provider.KindValidation, "model"},
		"a model with a retry": {flow.Answer{Inquiry: id, Option: flow.OptionRetry, Model: "test/spare"}, provider.KindValidation, "model"},
		"left out in a duel":   {flow.Answer{Inquiry: id, Option: flow.OptionDrop}, provider.KindValidation, "option"},
		"another is left out":  {flow.Answer{Inquiry: id, Option: flow.OptionSkip, By: "Ada"}, provider.KindValidation, "by"},
		"a rule's":             {flow.Answer{Inquiry: id, Option: flow.OptionAsk}, provider.KindValidation, "option"},
	} {
		t.Run(name, func(t *testing.T) {
			failure := stage.RequireKind(t, session.Answer(t.Context(), tc.answer), tc.kind)
			assert.Equal(t, tc.field, failure.Field)
			assert.NotContains(t, failure.Error(), "\n")
		})
	}
	failure := stage.RequireKind(t, session.Answer(t.Context(), flow.Answer{Inquiry: id, Text: "retry"}), provider.KindValidation)
	assert.Equal(t, "option", failure.Field, "a choice is no text")
	require.Error(t, session.Answer(t.Context(), flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}))
	require.Error(t, session.Resume(t.Context()))
	require.Error(t, session.Retry(t.Context()))
	after := stage.SessionRecord(t, session)
	assert.Equal(t, record.Seq, after.Seq)
	assert.Equal(t, flow.StateAwaitingInput, session.State())
	assert.Equal(t, record.Inquiries, after.Inquiries)

	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: id, Option: flow.OptionModel, Model: "test/spare"}))
	stage.RequireKind(t, session.Answer(t.Context(), flow.Answer{Inquiry: id, Option: flow.OptionModel, Model: "test/spare"}), provider.KindState)
	stage.Ended(t, session)
	stage.RequireKind(t, session.Answer(t.Context(), flow.Answer{Inquiry: id, Option: flow.OptionModel, Model: "test/spare"}), provider.KindState)
}

// The host has renewed the key behind the provider, and answers "retry": the answer has no place for a key.
func TestAnAnswerCarriesNoKey(t *testing.T) {
	const old, fresh = "sk-old-5f1d7a0c", "sk-new-93be21aa"
	var key atomic.Value
	key.Store(old)
	config := stage.TwoDebaters()
	config.Unattended = false
	engine, p := stage.Engine(config)
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		if key.Load() == old && strings.Contains(req.ID, "r2.rebuttal.Ben") {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindAuthentication, Status: 401, Message: "the key is refused"}}
		}
		return reply(req)
	}
	session := stage.Started(t, engine, config)
	record := stage.AwaitsInput(t, session)
	assert.Contains(t, record.Inquiries[0].Failure.Hint(), "Renew the API key")
	key.Store(fresh)
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionRetry}))
	record = stage.Ended(t, session)
	assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
	snapshot := string(stage.SnapshotOf(t, engine, record.ID))
	assert.NotContains(t, snapshot, old)
	assert.NotContains(t, snapshot, fresh)

	answer, err := json.Marshal(record.Answers[0])
	require.NoError(t, err)
	assert.JSONEq(t, fmt.Sprintf(`{"inquiry":%q,"option":"retry"}`, record.Answers[0].Inquiry), string(answer))
	var read flow.Answer
	assert.Error(t, strictly(t, `{"inquiry":"a","option":"retry","key":"sk-new"}`, &read))
}

// strictly reads an answer as a program does that takes no key that it does not know.
func strictly(t *testing.T, text string, into any) error {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}
