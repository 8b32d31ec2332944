package otel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// inside reports whether a span is a child of another one.
func inside(child, parent trace.ReadOnlySpan) bool {
	return child.Parent().SpanID() == parent.SpanContext().SpanID()
}

// An agent's span holds the attempts at one call, those after a failure and after a pause too.
func TestAnAgentIsASpan(t *testing.T) {
	r := newRecorder()
	play(t, &r.Observer)
	ada := r.find(t, "invoke_agent Ada")
	require.Len(t, ada, 2, "one for each call")
	calls := r.find(t, "chat talker")
	assert.True(t, inside(calls[0], ada[0]))
	assert.True(t, inside(calls[1], ada[0]))
	assert.True(t, inside(ada[0], r.find(t, "awaitingResponses")[0]))
	assert.Equal(t, codes.Unset, ada[0].Status().Code, "the second attempt was answered")
	assert.Equal(t, 5*time.Second, ada[0].EndTime().Sub(ada[0].StartTime()).Round(time.Millisecond), "with the wait between its attempts")
	for key, want := range map[string]string{
		"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "Ada", "gen_ai.conversation.id": "cars",
		"gen_ai.provider.name": "openai", "gen_ai.request.model": "talker", "debate.cost_usd": "0.0004", "debate.round": "1",
	} {
		assert.Equal(t, want, get(ada[0], key), key)
	}
	cy := r.one(t, "invoke_agent Cy")
	assert.Equal(t, trace.Status{Code: codes.Error}, cy.Status())
	assert.Equal(t, "authentication", get(cy, "error.type"))
	ben := r.find(t, "invoke_agent Ben")
	require.Len(t, ben, 2)
	assert.Equal(t, 33*time.Second, ben[1].EndTime().Sub(ben[1].StartTime()).Round(time.Millisecond), "the pause broke off an attempt, and no agent")
	for _, s := range r.ended(t) {
		assert.Empty(t, get(s, "debate.unfinished"), s.Name())
	}
}

// A tool is used within the span of the agent that asks for it; a call that a person has tried again is a new span.
func TestWhatAnAgentDoes(t *testing.T) {
	spend := func(call string, attempt int, model string) flow.Spend {
		return flow.Spend{Call: call, Attempt: attempt, Model: model}
	}
	ask := func(attempt int) flow.Event {
		return flow.Event{Body: &flow.Intent{Call: "work.Ada", Attempt: attempt, Kind: "work", By: "Ada", Model: "acme/talker"}}
	}
	broken := &flow.Error{Kind: provider.KindQuota}
	r := newRecorder()
	read(t, r, []flow.Event{
		ask(1),
		{Body: &flow.ToolCalls{Spend: spend("work.Ada", 1, "acme/talker"), By: "Ada"}},
		{Body: &flow.Intent{Call: "work.Ada.tool.1", Attempt: 1, Kind: flow.KindTool, By: "Ada", Tool: "add", For: "work.Ada"}},
		{Body: &flow.ToolResult{Spend: spend("work.Ada.tool.1", 1, ""), By: "Ada", Tool: "add"}},
		ask(2),
		{Body: &flow.Failure{Spend: spend("work.Ada", 2, "acme/talker"), By: "Ada", Error: broken, Final: true}},
		ask(3),
		{Body: &flow.Turn{Spend: spend("work.Ada", 3, "acme/talker"), Speaker: "Ada"}},
		ask(4),
		{Body: &flow.Intent{Call: "summary", Attempt: 1, Kind: flow.KindSummary, Model: "acme/writer"}},
		{Body: &flow.Intent{Call: "person", Attempt: 1, Kind: debate.KindVerdict, By: "Eve"}},
	})
	agents, calls, root := r.find(t, "invoke_agent Ada"), r.find(t, "chat talker"), r.one(t, "invoke_workflow")
	require.Len(t, agents, 3)
	assert.True(t, inside(calls[0], agents[0]))
	assert.True(t, inside(r.one(t, "execute_tool add"), agents[0]))
	assert.True(t, inside(calls[1], agents[0]))
	assert.Equal(t, "quota", get(agents[0], "error.type"))
	assert.True(t, inside(calls[2], agents[1]))
	assert.Equal(t, codes.Unset, agents[1].Status().Code)
	assert.Equal(t, "true", get(agents[2], "debate.unfinished"))
	assert.True(t, inside(r.one(t, "chat writer"), root), "a model that is nobody's is no agent")
	assert.True(t, inside(r.one(t, "call verdict"), root), "a person neither")
	assert.Empty(t, r.find(t, "invoke_agent Eve"))
}

// Calls that no log of this library leaves open end with the state in which they were asked.
func TestAgentsEndWithTheirState(t *testing.T) {
	began, long := time.Unix(1000, 0), strings.Repeat("\x00\u202e\n", 1<<12)
	r := newRecorder()
	read(t, r, []flow.Event{
		{At: began, Body: &flow.Transition{To: debate.StateAwaitingResponses}},
		{At: began, Body: &flow.Intent{Call: "lost", Attempt: 1, By: long, Model: "acme/talker"}},
		{At: began.Add(time.Minute), Body: &flow.Transition{To: debate.StateJudging}},
		{At: began.Add(time.Hour), Body: &flow.Transition{To: flow.StateCompleted}},
	})
	lost := r.ended(t)[2]
	assert.True(t, strings.HasPrefix(lost.Name(), "invoke_agent "))
	assert.Less(t, len(lost.Name()), 160)
	assert.NotContains(t, lost.Name(), "\x00")
	assert.Equal(t, began.Add(time.Minute), lost.EndTime())
}

// A call that is left out ends the work on it: at once, or with the attempt that was broken off.
func TestACallThatIsLeftOut(t *testing.T) {
	began := time.Unix(1000, 0)
	ask := &flow.Intent{Call: "r1.Ada", Attempt: 1, By: "Ada", Model: "acme/talker"}
	failed := &flow.Failure{Spend: flow.Spend{Call: "r1.Ada", Attempt: 1, Model: "acme/talker", Cost: flow.USD}, By: "Ada", Void: true}
	skipped := &flow.Skipped{Call: "r1.Ada", By: "Ada"}
	for name, order := range map[string][]flow.Body{"before": {skipped, failed}, "after": {failed, skipped}} {
		t.Run(name, func(t *testing.T) {
			r := newRecorder()
			read(t, r, []flow.Event{
				{At: began, Body: &flow.Transition{To: debate.StateAwaitingResponses}},
				{At: began, Body: ask},
				{At: began.Add(time.Second), Body: order[0]},
				{At: began.Add(2 * time.Second), Body: order[1]},
				{At: began.Add(time.Hour), Body: &flow.Transition{To: flow.StateCompleted}},
			})
			ada := r.one(t, "invoke_agent Ada")
			assert.Equal(t, began.Add(2*time.Second), ada.EndTime())
			assert.Equal(t, "1", get(ada, "debate.cost_usd"))
			assert.Empty(t, get(ada, "debate.unfinished"))
		})
	}
}
