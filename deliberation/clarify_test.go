package deliberation_test

import (
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// curious lets agents ask: by call, what they ask.
func curious(questions map[string][]string) answers {
	return func(call string, _ *provider.Request) (scripted.Reply, bool) {
		q, ok := questions[call]
		return scripted.Reply{Text: toJSON(map[string]any{"questions": q})}, ok
	}
}

func inquiries(r *flow.Record) []string {
	var out []string
	for _, q := range r.Inquiries {
		out = append(out, q.ID+" "+q.Question)
	}
	return out
}

func TestClarification(t *testing.T) {
	config := three()
	config.ID, config.Clarification = "clarified", deliberation.Clarification{On: true}
	store := &store.Memory{}
	open := func() (*debate.Engine, *scripted.Provider) {
		engine, p := engineFor(curious(map[string][]string{
			"clarify.1.ada": {"How many users?", "Which region?"}, "clarify.1.ben": {"Who pays?"}, "clarify.1.cyd": {"how many  Users"},
			"clarify.2.ben": {"What of Mars?", "Which region?"},
		}))
		engine.Store = store
		return engine, p
	}
	engine, _ := open()
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	r := stage.AwaitsInput(t, session)
	assert.Equal(t, []string{
		"question.1.ada.1 ada and cyd ask: How many users?", "question.1.ada.2 ada asks: Which region?", "question.1.ben.1 ben asks: Who pays?",
	}, inquiries(r))
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: "question.1.ben.1", Text: "A thousand pay."}))
	require.NoError(t, session.Close())

	engine, p := open() // another process
	session = stage.Reopen(t, engine, config.ID)
	r = stage.AwaitsInput(t, session)
	assert.Len(t, r.Inquiries, 2, "what was answered is not asked again")
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: "question.1.ada.1", Text: "About 1000."}))
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: "question.1.ada.2", Text: " na "}))
	r = stage.AwaitsInput(t, session)
	assert.Equal(t, []string{"question.2.ben.1 ben asks: What of Mars?"}, inquiries(r))
	assert.Regexp(t, clarified("ada, cyd", "How many users?", "About 1000."), prompt(t, p, "clarify.2.ben"))
	assert.Regexp(t, unanswered("ada", "Which region?"), prompt(t, p, "clarify.2.ben"))
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: "question.2.ben.1", Text: "Not now."}))
	r = stage.Ended(t, session)
	require.NoError(t, session.Close())
	assert.Empty(t, r.Warnings)
	got := view(r).Clarifications()
	require.Len(t, got, 4)
	assert.Equal(t, deliberation.Asked{
		ID: "question.1.ada.2", Iteration: 1, Agents: []string{"ada", "ben"}, Question: "Which region?", Answered: true, Answer: "na", Skipped: true,
	}, got[1])
	for _, call := range []string{"r1.propose.cyd", "r2.critique.ada.ben", "r2.refine.ben", "synthesis"} {
		text := prompt(t, p, call)
		assert.Regexp(t, clarified("ben", "What of Mars?", "Not now."), text, call)
		assert.Contains(t, text, "answer of a person>>>\nA thousand pay.\n", call)
	}
	assert.NotContains(t, calls(r), "clarify.4.ada")
	assert.Equal(t, []string{
		"start → initializing", "initialized → clarifying (3)", "questionsPending → answering (3)", "ask → awaitingInput", "answered → answering",
		"answersSubmitted → clarifying (3)", "questionsPending → answering (1)", "ask → awaitingInput", "answered → answering",
		"answersSubmitted → clarifying (3)", "allClear → planningRound",
	}, path(events(t, engine, r.ID))[:11])
}

// A question whose time is over stays unanswered, and the rounds begin.
func TestAQuestionThatNobodyAnswersInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := three()
		config.Clarification = deliberation.Clarification{On: true, Within: flow.Duration(time.Minute)}
		engine, p := engineFor(curious(map[string][]string{"clarify.1.ada": {"How many users?", "Which region?"}}))
		session := stage.Started(t, engine, config)
		r := stage.AwaitsInput(t, session)
		require.Len(t, r.Inquiries, 2)
		assert.Equal(t, time.Minute, r.Inquiries[0].Until.Sub(r.LastAt))
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: "question.1.ada.1", Text: "About 1000."}))
		stage.Pass(time.Hour)
		r = stage.Ended(t, session)
		got := view(r).Clarifications()
		require.Len(t, got, 2)
		assert.Equal(t, "About 1000.", got[0].Answer)
		assert.True(t, got[1].Skipped, "its time was over")
		assert.Regexp(t, unanswered("ada", "Which region?"), prompt(t, p, "r1.propose.ben"))
	})
}

func TestClarificationHasAnEnd(t *testing.T) {
	config := three()
	config.Clarification = deliberation.Clarification{On: true, Iterations: 2, Questions: 1}
	engine, _ := engineFor(func(call string, req *provider.Request) (scripted.Reply, bool) {
		return scripted.Reply{Text: toJSON(map[string]any{"questions": []string{"What of " + call + "?"}})}, req.Schema != nil && req.Schema.Name == "questions"
	})
	session := stage.Started(t, engine, config)
	for range 2 {
		r := stage.AwaitsInput(t, session)
		require.Len(t, r.Inquiries, 3)
		for _, q := range r.Inquiries {
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Text: "Yes."}))
		}
	}
	stage.Ended(t, session)
}

func TestTooManyQuestionsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := three()
		config.Clarification = deliberation.Clarification{On: true, Questions: 2}
		config.Unattended = true
		engine, _ := engineFor(curious(map[string][]string{"clarify.1.ada": {"a?", "b?", "c?"}, "clarify.1.ben": {"a?", "a?"}, "clarify.1.cyd": {" "}}))
		r := play(t, engine, config)
		assert.Equal(t, []string{"left-out clarify.1.ada", "left-out clarify.1.ben", "left-out clarify.1.cyd"}, kinds(r))
		assert.Equal(t, flow.EndRounds, r.Reason, "the debate goes on without answers")
	})
}

func TestNobodyIsAskedInAnUnattendedDebate(t *testing.T) {
	config := three()
	config.Clarification = deliberation.Clarification{On: true}
	engine, p := engineFor(curious(map[string][]string{"clarify.1.ada": {"How many users?"}}))
	for _, err := range engine.Run(t.Context(), config) {
		require.NoError(t, err)
	}
	assert.Regexp(t, unanswered("ada", "How many users?"), prompt(t, p, "r1.propose.ben"))
	config.Unattended = true
	r := play(t, engine, config)
	assert.Equal(t, []string{"unanswered"}, kinds(r))
	assert.Len(t, view(r).Clarifications(), 1)
}

// clarified matches a question and its answer, each in a fence of its own.
func clarified(agent, question, answer string) string {
	return `<<<\w+ question of ` + agent + `>>>\n` + regexp.QuoteMeta(question) + `\n<<<end \w+>>>\n` +
		`<<<\w+ answer of a person>>>\n` + regexp.QuoteMeta(answer) + `\n<<<end \w+>>>`
}

// unanswered matches a question that nobody has answered.
func unanswered(agent, question string) string {
	return `<<<\w+ question of ` + agent + `>>>\n` + regexp.QuoteMeta(question) + `\n<<<end \w+>>>\n\(not answered\)`
}

// TestKnownAnswers: what the config answers beforehand stands in all prompts, and nobody is asked it, on or off.
func TestKnownAnswers(t *testing.T) {
	config := three()
	config.Clarification.Known = []deliberation.KnownAnswer{
		{Question: "How many users?", Answer: "A million."}, {Question: "Who pays?", Answer: deliberation.NotAnswered},
	}
	engine, p := engineFor(nil)
	r := play(t, engine, config)
	known := `<<<\w+ question>>>\nHow many users\?\n<<<end \w+>>>\n<<<\w+ answer of a person>>>\nA million\.\n<<<end \w+>>>\n\n` +
		`<<<\w+ question>>>\nWho pays\?\n<<<end \w+>>>\n\(not answered\)`
	for _, call := range []string{"r1.propose.ada", "r2.critique.ben.cyd", "synthesis"} {
		assert.Regexp(t, known, prompt(t, p, call))
	}
	assert.Equal(t, []deliberation.Asked{
		{Known: true, Question: "How many users?", Answered: true, Answer: "A million."},
		{Known: true, Question: "Who pays?", Answered: true, Answer: "NA", Skipped: true},
	}, view(r).Clarifications())

	config.Clarification.On = true
	engine, p = engineFor(curious(map[string][]string{
		"clarify.1.ada": {"Which region?"}, "clarify.1.ben": {"How many users"}, "clarify.1.cyd": {"WHO pays?"}, "clarify.2.cyd": {"How many users?"},
	}))
	session := stage.Started(t, engine, config)
	r = stage.AwaitsInput(t, session)
	assert.Equal(t, []string{"question.1.ada.1 ada asks: Which region?"}, inquiries(r))
	assert.Regexp(t, known, prompt(t, p, "clarify.1.ada"), "the agents know before they ask")
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: "question.1.ada.1", Text: "Europe."}))
	r = stage.Ended(t, session)
	assert.Equal(t, []string{"ben", "cyd"}, view(r).Clarifications()[0].Agents)
	assert.Empty(t, r.Warnings)
	assert.Len(t, view(r).Clarifications(), 3)
}
