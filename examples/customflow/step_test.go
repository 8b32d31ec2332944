package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/flowtest"
	"github.com/agonist-dev/debate/provider"
)

// begin starts an interview. The first question is in flight then.
func begin(t *testing.T, config flow.Config) *flowtest.Hand {
	t.Helper()
	return flowtest.Begin(t, newEngine(), config)
}

// read returns the interview as another process reads it.
func read(t *testing.T, h *flowtest.Hand) *Interview {
	t.Helper()
	i, ok := h.Reload().Projection().(*Interview)
	require.True(t, ok)
	return i
}

func TestTheMarkIsReadFromTheLog(t *testing.T) {
	h := begin(t, interview())
	for _, call := range []string{"r1.question", "r1.answer", "r2.question", "r2.answer"} {
		assert.True(t, h.Record().Asking(call))
		h.Say(call, "Words.")
	}
	h.Say("grade", `{"score":59,"hire":true,"why":"nice"}`)
	assert.Contains(t, h.Prompt("grade"), "the pass mark is 60")
	h.Say("grade", `{"score":61,"hire":true,"why":"nice"}`)
	i := read(t, h)
	assert.Equal(t, flow.StateCompleted, i.State)
	assert.Equal(t, flow.EndRounds, i.Reason)
	assert.Equal(t, Mark{Score: 61, Hire: true, Why: "nice"}, i.Grade.Mark)
	assert.True(t, i.Done("grade"), "the answer that was accepted is that of the call")
}

func TestACandidateWhoFailsHasWalkedOut(t *testing.T) {
	h := begin(t, interview())
	h.Say("r1.question", "Why?")
	h.Fail("r1.answer", provider.KindRefusal)
	assert.Equal(t, flow.StateCompleting, h.Record().State)
	h.Say("grade", `{"score":0,"hire":false,"why":"left"}`)
	assert.NotNil(t, read(t, h).Grade)
}

func TestAnInterviewerWhoFailsStopsIt(t *testing.T) {
	config := interview()
	config.Unattended = true
	h := begin(t, config)
	h.Fail("r1.question", provider.KindRefusal)
	assert.Equal(t, flow.StateError, h.Record().State)
	h.Do(flow.Retry{})
	h.Say("r1.question", "Why?")
	assert.Equal(t, answering, h.Record().State)
}

func TestAPersonDecidesAboutAnInterviewerWhoFails(t *testing.T) {
	h := begin(t, interview())
	h.Fail("r1.question", provider.KindRefusal)
	require.Equal(t, flow.StateAwaitingInput, h.Record().State)
	assert.Equal(t, []flow.Option{flow.OptionRetry, flow.OptionWait, flow.OptionModel, flow.OptionEnd}, h.Record().Inquiries[0].Options)
}

func TestAPersonDecidesAboutAGraderWhoFails(t *testing.T) {
	config := interview()
	config.Questions = 1
	h := begin(t, config)
	h.Say("r1.question", "Why?")
	h.Say("r1.answer", "Because.")
	h.Fail("grade", provider.KindRefusal)
	require.Equal(t, flow.StateAwaitingInput, h.Record().State)
	h.Do(flow.Answer{Inquiry: h.Record().Inquiries[0].ID, Option: flow.OptionRetry})
	h.Do(flow.Failed{Call: "grade", Attempt: 2, Error: &flow.Error{Kind: provider.KindRefusal}})
	h.Do(flow.Answer{Inquiry: h.Record().Inquiries[0].ID, Option: flow.OptionDrop})
	assert.Equal(t, flow.StateCompleted, h.Record().State)
	assert.Nil(t, read(t, h).Grade)
	assert.Equal(t, []string{"Gwen"}, h.Record().Dropped())
}

func TestAnUnattendedInterviewOwesItsMark(t *testing.T) {
	config := interview()
	config.Questions, config.Unattended = 1, true
	config.OnFailure = []flow.FailureRule{{Do: flow.OptionDrop}} // which nobody but a person may do with a grader
	h := begin(t, config)
	h.Say("r1.question", "Why?")
	h.Say("r1.answer", "Because.")
	h.Fail("grade", provider.KindRefusal)
	require.Equal(t, flow.StateError, h.Record().State)
	h.Do(flow.Retry{})
	h.Say("grade", `{"score":61,"hire":true,"why":"nice"}`)
	assert.Equal(t, flow.StateCompleted, h.Record().State)
	assert.NotNil(t, read(t, h).Grade)
}

func TestTheHostProgramHasHeardEnough(t *testing.T) {
	enough := flow.Sent{Trigger: wrapUp, Payload: json.RawMessage(`"it is late"`)}
	t.Run("too early", func(t *testing.T) {
		h := begin(t, interview())
		err := h.Try(enough)
		require.ErrorContains(t, err, "hasAnswer")
		assert.Empty(t, h.Record().Inputs)
	})
	t.Run("with what is no text", func(t *testing.T) {
		h := begin(t, interview())
		h.Say("r1.question", "Why?")
		h.Say("r1.answer", "Because.")
		err := h.Try(flow.Sent{Trigger: wrapUp, Payload: json.RawMessage(`{"why":"late"}`)})
		require.ErrorContains(t, err, "debate: validation: send: payload: is no JSON text")
		assert.Empty(t, h.Record().Inputs)
	})
	t.Run("between two questions", func(t *testing.T) {
		h := begin(t, interview())
		h.Say("r1.question", "Why?")
		h.Say("r1.answer", "Because.")
		h.Do(enough)
		assert.Equal(t, flow.StateCompleting, h.Record().State)
		assert.Contains(t, h.Prompt("grade"), " host>>>\nit is late\n<<<end ", "it is quoted")
		assert.False(t, h.Record().Asking("r2.question"), "nobody wants it any more")
		h.Do(flow.Result{Call: "r2.question", Attempt: 1, Text: "And then?"})
		assert.Len(t, h.Record().Turns, 2, "what comes too late is no turn")
	})
	t.Run("while it is paused", func(t *testing.T) {
		h := begin(t, interview())
		h.Say("r1.question", "Why?")
		h.Do(flow.Pause{Drain: true})
		h.Do(enough)
		assert.Equal(t, flow.StatePaused, h.Record().State)
		h.Do(flow.Resume{})
		assert.Equal(t, answering, h.Record().State, "the input has fired nothing")
		h.Say("r1.answer", "Because.")
		assert.Equal(t, flow.StateCompleting, h.Record().State, "but the guard has read it")
	})
}

func TestTheHostProgramIsRefusedWhereNoRuleTakesItsInput(t *testing.T) {
	config := interview()
	config.Unattended = true
	h := begin(t, config)
	h.Fail("r1.question", provider.KindRefusal)
	err := h.Try(flow.Sent{Trigger: wrapUp})
	require.ErrorContains(t, err, "not possible in state error")
	assert.Empty(t, h.Record().Inputs)
}

// A limit is reached where another call or another question is wanted, and what it has cut short is said.
func TestALimitEndsAnInterview(t *testing.T) {
	for calls, want := range map[int]string{
		2: `ended after 1 of 3 rounds by the soft limit of 2 calls: raise it to about \d+ calls`,
		3: `ended after 1 of 3 rounds by the soft limit of 3 calls: raise it to about \d+ calls`,
		5: `ended after 2 of 3 rounds by the soft limit of 5 calls: raise it to about \d+ calls`,
		6: "",
	} {
		config := interview()
		config.Questions, config.Budget = 3, &flow.Budget{SoftCalls: calls}
		h := begin(t, config)
		for n := range calls {
			h.Say(fmt.Sprintf("r%d.%s", 1+n/2, []string{"question", "answer"}[n%2]), "Words.")
		}
		require.Equal(t, flow.StateCompleting, h.Record().State)
		assert.Regexp(t, "^"+want+"$", h.Record().CutShort())
		assert.Equal(t, h.Record().CutShort(), h.Reload().CutShort())
	}
}

func TestConfigs(t *testing.T) {
	engine := newEngine()
	_, err := engine.DecodeConfig([]byte(`{"flow":"interview","position":"cook","salary":1}`))
	require.ErrorContains(t, err, "salary")
	for field, change := range map[string]func(*Config){
		"questions":         func(c *Config) { c.Questions = 99 },
		"passMark":          func(c *Config) { c.PassMark = 101 },
		"grader.name":       func(c *Config) { c.Grader.Name = "Carl" },
		"grader.model":      func(c *Config) { c.Grader.Model = "" },
		"candidate.model":   func(c *Config) { c.Candidate.Model = "nobody/m" },
		"budget.hardCalls":  func(c *Config) { c.Budget = &flow.Budget{HardCalls: 2} },
		"interviewer.model": func(c *Config) { c.Budget = &flow.Budget{Hard: flow.USD} },
	} {
		config := interview()
		change(config)
		var failure *debate.Error
		require.ErrorAs(t, engine.Validate(t.Context(), config), &failure, field)
		assert.Equal(t, field, failure.Field)
	}
}
