package otel_test

import (
	"encoding/json"
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
)

// A process that dies in a call leaves it open; whoever opens the debate again learns what became of it.
func TestACallThatWasLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := engineOf(script)
		session, err := engine.Start(t.Context(), cars())
		require.NoError(t, err)
		r := newRecorder()
		for event, err := range r.Watch(t.Context(), session.Events(t.Context(), 0)) {
			if in := body.As[flow.Intent](event); in != nil && in.By == "Ben" {
				synctest.Wait() // the call is made
				require.NoError(t, session.Close())
			}
			if err != nil {
				require.ErrorIs(t, err, flow.ErrClosed)
			}
		}
		root := r.one(t, "invoke_workflow debate")
		assert.Equal(t, "true", get(root, "debate.unfinished"))

		stage.Pass(time.Hour)
		r = newRecorder()
		session = stage.Reopen(t, engine, "cars")
		defer session.Close()
		require.NoError(t, r.Observe(t.Context(), session))
		calls := r.find(t, "chat talker")
		assert.Equal(t, "void", get(calls[2], "debate.call.outcome"))
		assert.Equal(t, "process_gone", get(calls[2], "error.type"))
		assert.Equal(t, "accepted", get(calls[3], "debate.call.outcome"))
		assert.Equal(t, "2", get(calls[3], "debate.call.attempt"))
		assert.Contains(t, r.measured(t), "debate.call.outcome=void error.type=process_gone")
		assert.NotContains(t, r.measured(t), "error.type=process_gone gen_ai.operation.name=chat", "nobody knows how long it took")
	})
}

// A person who judges is asked and answers within the span of the call.
func TestAPersonWhoJudges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := engineOf(script)
		config := cars()
		config.Rounds, config.Unattended, config.OnFailure = 1, false, nil
		config.Judging = &debate.Judging{When: debate.AtEnd, Judges: []debate.JudgeConfig{{Person: true}}}
		session := stage.Started(t, engine, config)
		r := newRecorder()
		for event, err := range r.Watch(t.Context(), session.Events(t.Context(), 0)) {
			require.NoError(t, err)
			if q := body.As[flow.Inquiry](event); q != nil && len(q.Options) > 0 {
				require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionDrop}))
			} else if q != nil {
				stage.Pass(time.Minute)
				answer, err := json.Marshal(debate.PersonVerdict{
					Scores: map[string]float64{"Ada": 80, "Ben": 70}, QualityScore: 70, Winner: "for", Reasoning: "The better case.",
				})
				require.NoError(t, err)
				require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Text: string(answer)}))
			}
		}
		call := r.one(t, "call verdict")
		assert.Equal(t, time.Minute, call.EndTime().Sub(call.StartTime()))
		assert.Empty(t, get(call, "gen_ai.operation.name"), "a person is no model")
		require.Len(t, call.Events(), 2)
		assert.Equal(t, "debate.inquiry", call.Events()[0].Name)
		assert.Equal(t, "debate.answer", call.Events()[1].Name)
		assert.Contains(t, r.measured(t), "debate.calls [{call}] {debate.call.kind=verdict debate.call.outcome=accepted} 1\n")
		assert.NotContains(t, r.measured(t), "{gen_ai.operation.name=chat}")
		for _, s := range r.find(t, "awaitingInput") {
			assert.Empty(t, get(s, "debate.unfinished"))
		}
		var events []string
		for _, e := range r.find(t, "awaitingResponses")[0].Events() {
			events = append(events, e.Name+" "+among(e.Attributes, "debate.inquiry.options")+among(e.Attributes, "debate.answer.option"))
		}
		assert.Contains(t, events, `debate.inquiry ["retry","wait","model","skip","drop","end"]`)
		assert.Contains(t, events, "debate.answer drop")
		assert.NotContains(t, r.tree(t), canary)
	})
}

// What could not fit was never asked: it is a failure, but no request.
func TestACallThatWasNotSent(t *testing.T) {
	spend := flow.Spend{Call: "r1.Ada", Attempt: 1, Model: "acme/talker"}
	r := newRecorder()
	read(t, r, []flow.Event{
		{Body: &flow.Intent{Call: "r1.Ada", Attempt: 1, Kind: "argument", Model: "acme/talker"}},
		{Body: &flow.Failure{
			Spend: spend, Error: &flow.Error{Kind: provider.KindContextOverflow}, Final: true, Unsent: true,
		}},
	})
	call := r.one(t, "chat talker")
	assert.Equal(t, "unsent", get(call, "debate.call.outcome"))
	assert.Equal(t, "context_overflow", get(call, "error.type"))
	assert.Contains(t, r.measured(t), "debate.call.outcome=unsent error.type=context_overflow")
	assert.NotContains(t, r.measured(t), "gen_ai.client")
}

// An attempt of which the engine gives no time took as long as lies between its facts.
func TestACallWithoutATime(t *testing.T) {
	began := time.Unix(1000, 0)
	turn := &flow.Turn{Spend: flow.Spend{Call: "r1.Ada", Attempt: 1, Model: "acme/talker"}}
	r := newRecorder()
	read(t, r, []flow.Event{
		{At: began, Body: &flow.Intent{Call: "r1.Ada", Attempt: 1, Kind: "argument", Model: "acme/talker"}},
		{At: began.Add(3 * time.Second), Body: turn},
	})
	assert.Contains(t, r.measured(t), "gen_ai.request.model=talker} 1 of 3 in all")
}

// note is what another flow records of a call.
type note struct{ flow.Spend }

func (*note) EventKind() flow.EventKind { return "note" }

func TestACallOfAnotherFlow(t *testing.T) {
	spend := flow.Spend{Call: "note.Ada", Attempt: 1, Model: "acme/talker", Cost: flow.USD}
	start := &flow.Start{
		Flow: "notes", Config: flow.Value{JSON: []byte(`{"format":1}`)},
		Settings: flow.Settings{ID: "n1", Participants: []string{"Ada"}},
	}
	r := newRecorder()
	read(t, r, []flow.Event{
		{Body: start},
		{Body: &flow.Intent{Call: "note.Ada", Attempt: 1, Kind: "note", By: "Ada", Model: "acme/talker"}},
		{Body: &note{spend}},
	})
	root := r.one(t, "invoke_workflow notes")
	assert.Equal(t, "n1", get(root, "gen_ai.conversation.id"))
	assert.Equal(t, "1", get(root, "debate.participants"))
	assert.Equal(t, "1", get(root, "debate.cost_usd"))
	assert.Empty(t, get(root, "debate.format"))
	assert.Equal(t, "accepted", get(r.one(t, "chat talker"), "debate.call.outcome"))
}

// A model asks for a tool before it answers: two attempts, and between them the use of the tool.
func TestToolsAreTraced(t *testing.T) {
	spend := func(call string, attempt int, model string) flow.Spend {
		return flow.Spend{Call: call, Attempt: attempt, Model: model}
	}
	r := newRecorder()
	read(t, r, []flow.Event{
		{Body: &flow.Intent{Call: "work.Ada", Attempt: 1, Kind: "work", Model: "acme/talker"}},
		{Body: &flow.ToolCalls{Spend: spend("work.Ada", 1, "acme/talker"), By: "Ada", Text: canary}},
		{Body: &flow.Intent{Call: "work.Ada.tool.1", Attempt: 1, Kind: flow.KindTool, By: "Ada", Tool: "add"}},
		{Body: &flow.ToolResult{Spend: spend("work.Ada.tool.1", 1, ""), By: "Ada", Tool: "add", Text: canary, Failed: true}},
		{Body: &flow.Intent{Call: "work.Ada", Attempt: 2, Kind: "work", Model: "acme/talker"}},
		{Body: &flow.Turn{Spend: spend("work.Ada", 2, "acme/talker"), Speaker: "Ada"}},
	})
	use := r.one(t, "execute_tool add")
	assert.Equal(t, "execute_tool", get(use, "gen_ai.operation.name"))
	assert.Equal(t, "add", get(use, "gen_ai.tool.name"))
	assert.Equal(t, "failed", get(use, "debate.call.outcome"))
	asked := r.find(t, "chat talker")
	assert.Equal(t, "tools", get(asked[0], "debate.call.outcome"))
	assert.Equal(t, "accepted", get(asked[1], "debate.call.outcome"))
	assert.NotContains(t, r.measured(t), canary)
}
