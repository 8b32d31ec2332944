package tool_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// approvalEngine has a tool of which each use needs approval.
func approvalEngine(t *testing.T, c *stage.Tally, times int) *debate.Engine {
	t.Helper()
	return stage.WorkshopEngine(stage.ToolAsker(stage.OneSum(times)...), 10, map[string]debate.Tool{"add": c.Of(t, flow.ToolInfo{Approval: true})})
}

func TestEachUseOfAToolMayNeedApproval(t *testing.T) {
	for option, c := range map[flow.Option]struct {
		text string
		want string
		uses int
	}{
		flow.OptionApprove: {"", "3", 1},
		flow.OptionAlways:  {"", "3", 1},
		flow.OptionDeny:    {"Not on a Sunday.", "This use was denied: Not on a Sunday.", 0},
	} {
		t.Run(string(option), func(t *testing.T) {
			count := &stage.Tally{}
			engine := stage.WorkshopEngine(stage.AdaAlone(stage.ToolAsker(stage.OneSum(1)...)), 10, map[string]debate.Tool{"add": count.Of(t, flow.ToolInfo{Approval: true})})
			session := stage.Started(t, engine, stage.InFlow(engine, stage.ToolUsers()))
			record := stage.AwaitsInput(t, session)
			require.Len(t, record.Inquiries, 1)
			q := record.Inquiries[0]
			assert.Equal(t, &flow.PendingUse{Use: "work.Ada.tool.1", For: "work.Ada", Tool: "add", Arguments: `{"a":1,"b":2}`}, q.Use)
			assert.Equal(t, flow.KindTool, q.Kind)
			assert.Equal(t, "Ada", q.To)
			assert.Equal(t, []flow.Option{flow.OptionApprove, flow.OptionDeny, flow.OptionAlways}, q.Options)
			assert.Equal(t, `Ada asks to use the tool add: {"a":1,"b":2}`, q.Question)
			assert.Empty(t, count.Times)
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: option, Text: c.text}))
			record = stage.Ended(t, session)
			assert.Len(t, count.Times, c.uses)
			assert.Contains(t, record.Turns[1].Text, c.want)
			require.Error(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: option}), "it is answered")
		})
	}
}

// Whoever always approves a tool is asked about none of its uses any more: not about those that wait already, nor after a
// restart.
func TestAToolMayBeApprovedForAllItsUses(t *testing.T) {
	count, kept := &stage.Tally{}, &store.Memory{}
	engine := approvalEngine(t, count, 2)
	engine.Store = kept
	session, err := engine.Start(t.Context(), stage.InFlow(engine, stage.ToolUsers()))
	require.NoError(t, err)
	record := stage.AwaitsInput(t, session)
	require.Len(t, record.Inquiries, 2, "of Ada and of Ben")
	require.NoError(t, session.Close())

	first := flow.Answer{Inquiry: record.Inquiries[1].ID, Option: flow.OptionAlways, Person: "Mia"}
	require.NoError(t, engine.Control(t.Context(), record.ID, first))
	for _, q := range record.Inquiries {
		err := engine.Control(t.Context(), record.ID, flow.Answer{Inquiry: q.ID, Option: flow.OptionDeny})
		stage.RequireKind(t, err, provider.KindState)
		require.ErrorContains(t, err, fmt.Sprintf("inquiry %q was answered by \"Mia\" at ", q.ID))
		require.ErrorContains(t, err, " with always")
	}
	again := approvalEngine(t, count, 2)
	again.Store = kept
	session = stage.Reopen(t, again, record.ID)
	defer session.Close()
	record = stage.Ended(t, session)
	assert.Len(t, record.Answers, 1)
	assert.Len(t, count.Times, 4)
}

// A log from elsewhere cannot say that a tool needs no approval here, nor that somebody has given it: a person is asked, also in a fork. So
// it is where the tool came after the log.
func TestApprovalsFromElsewhereDoNotCount(t *testing.T) {
	engine := approvalEngine(t, &stage.Tally{}, 1)
	engine.Store = &store.Memory{}
	session, err := engine.Start(t.Context(), stage.InFlow(engine, stage.ToolUsers()))
	require.NoError(t, err)
	record := stage.AwaitsInput(t, session)
	require.NoError(t, session.Close())
	unasked, _, _ := strings.Cut(string(stage.Exported(t, engine, record.ID)), `"kind":"inquiry"`)
	unasked = unasked[:strings.LastIndex(unasked, ",\n")] + "\n]}\n"
	require.Contains(t, unasked, `,"approval":true`)
	unanswered := string(stage.Exported(t, engine, record.ID))
	always := flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionAlways}
	require.NoError(t, engine.Control(t.Context(), record.ID, always))
	free, answered := strings.Replace(unasked, `,"approval":true`, "", 1), string(stage.Exported(t, engine, record.ID))
	for name, c := range map[string]struct {
		log, longer string
		later       bool // the engine gets the tool after the import
	}{
		"none is needed": {free, "", false}, "of a tool that comes later": {free, "", true},
		"always": {answered, "", false}, "always, in a second import": {unanswered, answered, false},
	} {
		t.Run(name, func(t *testing.T) {
			count := &stage.Tally{}
			here := approvalEngine(t, count, 1)
			here.Store = &store.Memory{}
			imports := here
			if c.later {
				imports = approvalEngine(t, count, 1)
				imports.Store, imports.Tools = here.Store, nil
			}
			for range 2 { // the second time changes nothing
				_, err := imports.Import(t.Context(), strings.NewReader(c.log))
				require.NoError(t, err)
			}
			if c.longer != "" {
				_, err := imports.Import(t.Context(), strings.NewReader(c.longer))
				assert.Contains(t, stage.RequireKind(t, err, provider.KindConflict).Field, "].body.option")
			}
			first, err := here.Fork(t.Context(), record.ID, stage.StoredRecord(t, here, record.ID).Seq, nil)
			require.NoError(t, err)
			for _, session := range []*debate.Session{first, stage.Reopen(t, here, record.ID)} {
				asked := stage.AwaitsInput(t, session)
				require.Len(t, asked.Inquiries, 2)
				assert.Empty(t, count.Times)
				answer := flow.Answer{Inquiry: asked.Inquiries[0].ID, Option: flow.OptionDeny}
				require.NoError(t, session.Answer(t.Context(), answer))
				answer = flow.Answer{Inquiry: asked.Inquiries[1].ID, Option: flow.OptionAlways}
				require.NoError(t, session.Answer(t.Context(), answer), "what is decided here counts")
				stage.Ended(t, session)
				assert.Len(t, count.Times, 1)
				clear(count.Times)
				require.NoError(t, session.Close())
			}
		})
	}
}

// The rest of the conversation does not wait for a person who is asked about a use.
func TestOtherCallsDoNotWaitForApproval(t *testing.T) {
	count := &stage.Tally{}
	engine := approvalEngine(t, count, 1)
	free := (&stage.Tally{}).Of(t, flow.ToolInfo{})
	engine.Tools["free"] = free
	p := stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", "add", `{"a":1,"b":2}`), stage.ToolCall("2", "free", `{"a":3,"b":4}`)})
	engine.Providers["test"] = stage.AdaAlone(p)
	config := stage.ToolUsers()
	config.Tools = []string{"add", "free"}
	session := stage.Started(t, engine, stage.InFlow(engine, config))
	record := stage.AwaitsInput(t, session)
	require.Len(t, record.Turns, 1)
	assert.Equal(t, "Ben", record.Turns[0].Speaker)
	require.Len(t, record.ToolUses, 1)
	assert.Equal(t, "free", record.ToolUses[0].Tool)
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionApprove}))
	assert.Contains(t, stage.Ended(t, session).Turns[1].Text, "3")
}

func TestApprovalWhereNobodyCanBeAsked(t *testing.T) {
	for policy, c := range map[flow.Option]struct {
		want string
		uses int
	}{
		"":                 {"it needs a person's approval, and nobody can be asked", 0},
		flow.OptionDeny:    {"it needs a person's approval, and nobody can be asked", 0},
		flow.OptionApprove: {"3", 2},
	} {
		count := &stage.Tally{}
		engine := approvalEngine(t, count, 1)
		config := stage.ToolUsers()
		config.Unattended, config.ToolPolicy.Approval = true, policy
		record := stage.Run(t, engine, stage.InFlow(engine, config))
		assert.Contains(t, record.Turns[0].Text, c.want)
		assert.Len(t, count.Times, c.uses)
		require.Len(t, record.Answers, 2, "each decision is recorded")
		assert.True(t, record.Answers[0].Rule)
	}
}

// What a model wrote is shown so that a person can judge it: bounded, without secrets, and with nothing that nobody sees.
func TestArgumentsAreShownToWhoeverApproves(t *testing.T) {
	p := stage.ToolAsker([]provider.ToolCall{
		stage.ToolCall("1", "add", "{\"a\":1,\"b\":2,\"note\":\"\u202eevil\u200b\"}"),
		stage.ToolCall("2", "add", `{"a":1,"b":2,"key":"sk-kZ8canary5f1d7a0c9e2b"}`),
		stage.ToolCall("3", "add", `{"a":1,"b":2,"note":"`+strings.Repeat("x", 10_000)+`"}`),
	})
	engine := stage.WorkshopEngine(stage.AdaAlone(p), 10, map[string]debate.Tool{"add": flow.WithApproval((&stage.Tally{}).Of(t, flow.ToolInfo{ReadOnly: true}))})
	session := stage.Started(t, engine, stage.InFlow(engine, stage.ToolUsers()))
	record := stage.AwaitsInput(t, session)
	require.Len(t, record.Inquiries, 3)
	assert.JSONEq(t, `{"a":1,"b":2,"note":"\u202eevil\u200b"}`, record.Inquiries[0].Use.Arguments)
	assert.NotContains(t, record.Inquiries[0].Use.Arguments, "\u202e")
	assert.NotContains(t, record.Inquiries[1].Use.Arguments, "canary")
	assert.NotContains(t, record.Inquiries[1].Question, "canary")
	assert.Len(t, record.Inquiries[2].Use.Arguments, 4096)
	assert.True(t, record.Inquiries[2].Use.Cut)
	assert.Less(t, len(record.Inquiries[2].Question), 600)
}

func TestAnswersAboutUsesThatAreRefused(t *testing.T) {
	engine := approvalEngine(t, &stage.Tally{}, 1)
	session := stage.Started(t, engine, stage.InFlow(engine, stage.ToolUsers()))
	record := stage.AwaitsInput(t, session)
	q := record.Inquiries[0].ID
	for field, a := range map[string]flow.Answer{
		"option": {Option: flow.OptionAgain}, "text": {Option: flow.OptionApprove, Text: "Go on."}, "by": {Option: flow.OptionDeny, By: "Ada"},
		"model": {Option: flow.OptionDeny, Model: "test/debater"}, "attachments": {Option: flow.OptionDeny, Attachments: []flow.File{{Name: "x"}}},
	} {
		a.Inquiry = q
		failure := stage.RequireKind(t, engine.Control(t.Context(), record.ID, a), provider.KindValidation)
		if field != "attachments" {
			assert.Equal(t, field, failure.Field)
		}
	}
	err := session.Answer(t.Context(), flow.Answer{Inquiry: q, Option: flow.OptionDeny, Text: strings.Repeat("x", 33<<10)})
	assert.Equal(t, "text", stage.RequireKind(t, err, provider.KindValidation).Field)
	assert.Equal(t, record.Seq, stage.AwaitsInput(t, session).Seq, "nothing is recorded")
}

// A conversation that ends, or leaves its state, asks about no use any more.
func TestNobodyIsAskedAboutUsesAfterTheEnd(t *testing.T) {
	for name, end := range map[string]func(*debate.Session, context.Context) error{
		"stop": (*debate.Session).Stop, "cancel": (*debate.Session).Cancel,
	} {
		count := &stage.Tally{}
		engine := approvalEngine(t, count, 1)
		session, err := engine.Start(t.Context(), stage.InFlow(engine, stage.ToolUsers()))
		require.NoError(t, err)
		stage.AwaitsInput(t, session)
		require.NoError(t, end(session, t.Context()), name)
		record := stage.Ended(t, session)
		assert.Empty(t, record.Inquiries, name)
		assert.Empty(t, count.Times, name)
		require.NoError(t, session.Close())
	}
}

// An amendment by which nobody can be asked any more lets the policy decide about what is asked already.
func TestAnAmendmentAnswersWhatIsAskedAboutUses(t *testing.T) {
	count := &stage.Tally{}
	engine := approvalEngine(t, count, 1)
	session := stage.Started(t, engine, stage.InFlow(engine, stage.ToolUsers()))
	stage.AwaitsInput(t, session)
	stage.RequireKind(t, session.Control(t.Context(), flow.Amendment{ToolPolicy: &flow.ToolPolicy{Approval: flow.OptionTell}}), provider.KindValidation)
	require.NoError(t, session.Control(t.Context(), flow.Amendment{
		Unattended: new(true), ToolPolicy: &flow.ToolPolicy{Approval: flow.OptionApprove},
	}))
	record := stage.Ended(t, session)
	assert.Len(t, count.Times, 2)
	assert.Len(t, record.Turns, 2)
}
