package debates_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

func TestInquiriesAreAnsweredByPeople(t *testing.T) {
	config := stage.TwoDebaters()
	store := &store.Memory{}
	open := func() *debate.Engine {
		engine, _ := stage.Engine(config)
		engine.Store, engine.Flows = store, map[string]*debate.Flow{"interview": stage.Interview()}
		return engine
	}
	engine := open()
	session, err := engine.Start(t.Context(), flow.Named("interview", config))
	require.NoError(t, err)
	record := stage.AwaitsInput(t, session)
	assert.Equal(t, flow.StateAwaitingInput, record.State)
	require.Len(t, record.Inquiries, 2)
	assert.Equal(t, "What do you say, Ada?", record.Inquiries[0].Question)
	require.NoError(t, session.Pause(t.Context()), "who waits can be paused too")
	require.NoError(t, session.Resume(t.Context()))
	require.ErrorContains(t, session.Answer(t.Context(), flow.Answer{Inquiry: "question.Cyd", Text: "Hello."}), "no inquiry")
	require.ErrorContains(t, session.Answer(t.Context(), flow.Answer{Inquiry: "question.Ada", Text: "  "}), "text")
	require.ErrorContains(t, session.Answer(t.Context(), flow.Answer{Inquiry: "question.Ada", Text: strings.Repeat("a", 1<<20+1)}), "bytes")
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: "question.Ben", Text: "Prices."}))
	require.ErrorContains(t, session.Answer(t.Context(), flow.Answer{Inquiry: "question.Ben", Text: "Bans."}), `inquiry "question.Ben" was answered by a person at `)
	require.NoError(t, session.Close())

	session = stage.Reopen(t, open(), session.ID())
	record, err = session.Wait(t.Context())
	require.ErrorIs(t, err, debate.ErrAwaitingInput, "a question outlives its process")
	require.Len(t, record.Inquiries, 1)
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: "question.Ada", Text: "Bans."}))
	record = stage.Ended(t, session)
	assert.Equal(t, flow.StateCompleted, record.State)
	require.Len(t, record.Turns, 3)
	assert.Equal(t, "Prices.", record.Turns[0].Text)
	assert.Equal(t, []string{"question.Ben", "question.Ada"}, []string{record.Answers[0].Inquiry, record.Answers[1].Inquiry})
	assert.Equal(t, 1, record.Spent().Requests, "what people do is no request")
	require.NoError(t, session.Close())
}

func TestRunEndsWhereAPersonIsNeeded(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	engine.Flows = map[string]*debate.Flow{"interview": stage.Interview()}
	var last error
	for _, err := range engine.Run(t.Context(), flow.Named("interview", config)) {
		last = err
	}
	require.ErrorIs(t, last, debate.ErrAwaitingInput)
	require.EqualError(t, last, `the conversation awaits an answer to inquiry "question.Ada": question by Ada (and 1 more)`, "without the prompt")
}

// The error of a debate that waits for a person says what is asked, in one line, and wraps the failure behind it.
func TestTheErrorOfAWaitSaysWhatIsAsked(t *testing.T) {
	const key = "sk-ant-api03-0123456789abcdefghij"
	config := stage.TwoDebaters()
	config.Unattended = false
	engine, p := stage.Engine(config)
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		if stage.Said("Ben", 1)(req) {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindAuthentication, Status: 401, Message: "no\nkey " + key}}
		}
		return reply(req)
	}
	session := stage.Started(t, engine, config)
	for name, wait := range map[string]func(context.Context) (*debate.Record, error){"Wait": session.Wait, "WaitIdle": session.WaitIdle} {
		t.Run(name, func(t *testing.T) {
			record, err := wait(t.Context())
			require.ErrorIs(t, err, debate.ErrAwaitingInput)
			asked, ok := errors.AsType[*flow.AwaitingInputError](err)
			require.True(t, ok)
			assert.Equal(t, record.Inquiries, asked.Inquiries)
			failure := stage.RequireKind(t, err, provider.KindAuthentication)
			assert.Equal(t, "Ben", failure.Participant)
			require.ErrorContains(t, err, "awaits an answer to inquiry \""+asked.Inquiries[0].ID+"\": Ben: authentication: ")
			require.ErrorContains(t, err, failure.Hint())
			require.ErrorContains(t, err, " Options: "+string(asked.Inquiries[0].Options[0])+", ")
			assert.NotContains(t, err.Error(), "\n")
			assert.NotContains(t, err.Error(), key)

			asked.Inquiries[0] = flow.Inquiry{}
			record = stage.SessionRecord(t, session)
			assert.NotEmpty(t, record.Inquiries[0].ID)
			_, err = wait(t.Context())
			assert.ErrorContains(t, err, record.Inquiries[0].ID, "the slice is the caller's")
		})
	}
}

func TestAFlowsOwnInput(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	engine.Flows = map[string]*debate.Flow{"interview": stage.Interview()}
	session := stage.Started(t, engine, flow.Named("interview", config))
	stage.AwaitsInput(t, session)
	require.ErrorContains(t, session.Send(t.Context(), "dance", nil), "no input")
	require.ErrorContains(t, session.Send(t.Context(), stage.OnHurry, make(chan int)), "payload")

	require.NoError(t, session.Send(t.Context(), stage.OnHurry, map[string]string{"why": "lunch"}), "the table has a rule for it")
	record := stage.SessionRecord(t, session)
	require.Len(t, record.Inputs, 1)
	assert.JSONEq(t, `{"why":"lunch"}`, string(record.Inputs[0].Payload))
	assert.Equal(t, flow.StateAwaitingInput, record.State, "the rule changes nothing")
}

func TestSnapshotsCarryADebateToAnotherEngine(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	engine.Flows = map[string]*debate.Flow{"interview": stage.Interview()}
	session, err := engine.Start(t.Context(), flow.Named("interview", config))
	require.NoError(t, err)
	defer session.Close()
	stage.AwaitsInput(t, session)
	snapshot, err := session.Snapshot(t.Context())
	require.NoError(t, err)
	assert.True(t, json.Valid(snapshot))

	other, _ := stage.Engine(config)
	_, err = stage.Restore(t.Context(), other, snapshot)
	require.ErrorContains(t, err, `no flow "interview"`)

	other, _ = stage.Engine(config)
	other.Flows = map[string]*debate.Flow{"interview": stage.Interview()}
	restored, err := stage.Restore(t.Context(), other, snapshot)
	require.NoError(t, err)
	defer restored.Close()
	require.NoError(t, restored.Answer(t.Context(), flow.Answer{Inquiry: "question.Ada", Text: "Bans."}))
	require.NoError(t, restored.Answer(t.Context(), flow.Answer{Inquiry: "question.Ben", Text: "Prices."}))
	record := stage.Ended(t, restored)
	assert.Equal(t, flow.StateCompleted, record.State)
}
