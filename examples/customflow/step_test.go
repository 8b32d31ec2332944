package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// hand is an interview whose core is stepped by hand: no goroutine, no clock, no provider.
type hand struct {
	*flow.Core

	t   *testing.T
	now time.Time
	log []flow.Event
}

// begin starts an interview. The first question is in flight then.
func begin(t *testing.T, config flow.Config) *hand {
	t.Helper()
	engine := newEngine()
	require.NoError(t, engine.Validate(t.Context(), config))
	start, err := engine.Freeze(config)
	require.NoError(t, err)
	core, err := engine.NewCore("i", nil)
	require.NoError(t, err)
	h := &hand{Core: core, t: t, now: time.Unix(0, 0)}
	for _, signal := range []flow.Signal{flow.Edit{Config: config}, flow.Validate{}, flow.Validated{OK: true}, start} {
		h.step(signal)
	}
	return h
}

// step takes a signal, and a Tick an hour later, so that no wait is left.
func (h *hand) step(signal flow.Signal) {
	h.t.Helper()
	for _, signal := range []flow.Signal{signal, flow.Tick{}} {
		out, err := h.Step(flow.Input{At: h.now, Signal: signal})
		require.NoError(h.t, err)
		h.log = append(h.log, out.Events...)
		h.now = h.now.Add(time.Hour)
	}
}

// say gives the reply to a call in flight, fail its failure.
func (h *hand) say(call, text string) {
	h.t.Helper()
	command, err := h.Command(call)
	require.NoError(h.t, err)
	h.step(flow.Result{Call: call, Attempt: command.Attempt, Text: text})
}

func (h *hand) fail(call string) {
	h.t.Helper()
	h.step(flow.Failed{Call: call, Attempt: 1, Error: &flow.Error{Kind: provider.KindRefusal}})
}

// prompt returns the instruction of a call in flight.
func (h *hand) prompt(call string) string {
	h.t.Helper()
	command, err := h.Command(call)
	require.NoError(h.t, err)
	return command.Request.Last.Text
}

// read folds the log that was written, as another process would.
func (h *hand) read() *Interview {
	h.t.Helper()
	data, err := json.Marshal(h.log)
	require.NoError(h.t, err)
	var events []flow.Event
	require.NoError(h.t, json.Unmarshal(data, &events))
	core, err := newEngine().NewCore("i", events)
	require.NoError(h.t, err)
	i, ok := core.Record().Part().(*Interview)
	require.True(h.t, ok)
	return i
}

func TestTheMarkIsReadFromTheLog(t *testing.T) {
	h := begin(t, interview())
	for _, call := range []string{"r1.question", "r1.answer", "r2.question", "r2.answer"} {
		assert.True(t, h.Record().Asking(call))
		h.say(call, "Words.")
	}
	h.say("grade", `{"score":59,"hire":true,"why":"nice"}`)
	assert.Contains(t, h.prompt("grade.again"), "the pass mark is 60")
	h.say("grade.again", `{"score":61,"hire":true,"why":"nice"}`)
	i := h.read()
	assert.Equal(t, flow.StateCompleted, i.State)
	assert.Equal(t, flow.EndRounds, i.Reason)
	assert.Equal(t, Mark{Score: 61, Hire: true, Why: "nice"}, i.Grade.Mark)
	assert.True(t, i.Done("grade"), "the answer to the re-ask is that of the call")
}

func TestACandidateWhoFailsHasWalkedOut(t *testing.T) {
	h := begin(t, interview())
	h.say("r1.question", "Why?")
	h.fail("r1.answer")
	assert.Equal(t, flow.StateCompleting, h.Record().State)
	h.say("grade", `{"score":0,"hire":false,"why":"left"}`)
	assert.NotNil(t, h.read().Grade)
}

func TestAnInterviewerWhoFailsStopsIt(t *testing.T) {
	h := begin(t, interview())
	h.fail("r1.question")
	assert.Equal(t, flow.StateError, h.Record().State)
}

func TestAPersonDecidesAboutAGraderWhoFails(t *testing.T) {
	config := interview()
	config.Questions = 1
	for _, unattended := range []bool{true, false} {
		if unattended {
			config.Unattended = &flow.Unattended{}
		} else {
			config.Unattended = nil
		}
		h := begin(t, *config)
		h.say("r1.question", "Why?")
		h.say("r1.answer", "Because.")
		h.fail("grade")
		if !unattended {
			require.Equal(t, flow.StateAwaitingInput, h.Record().State)
			h.step(flow.Answer{Inquiry: h.Record().Inquiries[0].ID, Option: flow.OptionRetry})
			h.step(flow.Failed{Call: "grade", Attempt: 2, Error: &flow.Error{Kind: provider.KindRefusal}})
			h.step(flow.Answer{Inquiry: h.Record().Inquiries[0].ID, Option: flow.OptionWithout})
		}
		assert.Equal(t, flow.StateCompleted, h.Record().State)
		assert.Nil(t, h.read().Grade)
		assert.Equal(t, []string{"Gwen"}, h.Record().Dropped())
	}
}

func TestTheHostProgramHasHeardEnough(t *testing.T) {
	enough := flow.Sent{Trigger: wrapUp, Payload: json.RawMessage(`"it is late"`)}
	t.Run("too early", func(t *testing.T) {
		h := begin(t, interview())
		_, err := h.Step(flow.Input{At: h.now, Signal: enough})
		require.ErrorContains(t, err, "hasAnswer")
		assert.Empty(t, h.Record().Inputs)
	})
	t.Run("between two questions", func(t *testing.T) {
		h := begin(t, interview())
		h.say("r1.question", "Why?")
		h.say("r1.answer", "Because.")
		h.step(enough)
		assert.Equal(t, flow.StateCompleting, h.Record().State)
		assert.Contains(t, h.prompt("grade"), " host>>>\nit is late\n<<<end ", "it is quoted")
		assert.True(t, h.Record().Asking("r2.question"), "an input aborts no call")
		h.step(flow.Result{Call: "r2.question", Attempt: 1, Text: "And then?"})
		assert.Len(t, h.Record().Turns, 3)
	})
	t.Run("while it is paused", func(t *testing.T) {
		h := begin(t, interview())
		h.say("r1.question", "Why?")
		h.step(flow.Pause{Drain: true})
		h.step(enough)
		h.step(flow.Resume{})
		assert.Equal(t, answering, h.Record().State, "the input has fired nothing")
		h.say("r1.answer", "Because.")
		assert.Equal(t, flow.StateCompleting, h.Record().State, "but the guard has read it")
	})
}

func TestConfigs(t *testing.T) {
	engine := newEngine()
	_, err := engine.DecodeConfig([]byte(`{"flow":"interview","position":"cook","salary":1}`))
	require.ErrorContains(t, err, "salary")
	for field, change := range map[string]func(*Config){
		"questions":         func(c *Config) { c.Questions = 99 },
		"passMark":          func(c *Config) { c.PassMark = 101 },
		"grader.name":       func(c *Config) { c.Grader.Name = "Carl" },
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
