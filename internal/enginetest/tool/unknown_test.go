package tool_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// inUse returns an engine whose store has a debate that a process has left right after it recorded that Ada uses a tool.
// Another debate like it ended before; count counts the uses of the one that is left.
func inUse(t *testing.T, count *stage.Tally, unattended bool, policy flow.ToolPolicy) (*debate.Engine, string) {
	t.Helper()
	config := stage.ToolUsers()
	config.Unattended, config.ToolPolicy = unattended, policy
	engine := stage.WorkshopEngine(stage.AdaAlone(stage.ToolAsker(stage.OneSum(1)...)), 10, map[string]debate.Tool{"add": (&stage.Tally{}).Tool(t, false)})
	log := stage.LogOf(t, engine, stage.Run(t, engine, stage.InFlow(engine, config)).ID)
	at := 0
	for i, e := range log.Events {
		if in := body.As[flow.Intent](e); in != nil && in.Tool != "" {
			at = i
		}
	}
	left := stage.WorkshopEngine(stage.AdaAlone(stage.ToolAsker(stage.OneSum(1)...)), 10, map[string]debate.Tool{"add": count.Tool(t, false)})
	left.Store = &store.Memory{}
	require.NoError(t, left.Store.Append(t.Context(), log.ID, 0, "gone", log.Copied(t)[:at+1]))
	return left, log.ID
}

// adaSaid returns what Ada has said.
func adaSaid(t *testing.T, record *debate.Record) string {
	t.Helper()
	for _, turn := range record.Turns {
		if turn.Speaker == "Ada" {
			return turn.Text
		}
	}
	return ""
}

// A process dies while a tool is used. Whether that had an effect nobody knows: a person says what follows.
func TestAPersonDecidesAboutAUseWhoseOutcomeIsUnknown(t *testing.T) {
	for name, c := range map[string]struct {
		option flow.Option
		text   string
		want   string
		uses   int
	}{
		"again":               {flow.OptionAgain, "", "3", 1},
		"done, with a text":   {flow.OptionDone, "It has added 1 and 2.", "It has added 1 and 2.", 0},
		"done without a text": {flow.OptionDone, "", "A person says that the tool took effect.", 0},
		"tell":                {flow.OptionTell, "", "Nobody knows whether it took effect.", 0},
	} {
		t.Run(name, func(t *testing.T) {
			count := &stage.Tally{}
			engine, id := inUse(t, count, false, flow.ToolPolicy{})
			session := stage.Reopen(t, engine, id)
			record := stage.AwaitsInput(t, session)
			require.Len(t, record.Inquiries, 1)
			q := record.Inquiries[0]
			assert.Equal(t, 1, q.Use.Attempt)
			assert.Equal(t, []flow.Option{flow.OptionAgain, flow.OptionDone, flow.OptionTell}, q.Options)
			assert.Contains(t, q.Question, "Nobody knows whether it took effect")
			require.Len(t, record.ToolUses, 1)
			assert.True(t, record.ToolUses[0].Unknown, "that it was made is recorded")
			require.NoError(t, session.Close())

			session, err := engine.Open(t.Context(), id) // after another restart the question is the same
			require.NoError(t, err)
			defer session.Close()
			assert.Equal(t, record.Inquiries, stage.AwaitsInput(t, session).Inquiries)
			assert.Empty(t, count.Times)
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: c.option, Text: c.text}))
			assert.Contains(t, adaSaid(t, stage.Ended(t, session)), c.want)
			assert.Len(t, count.Times, c.uses)
		})
	}
}

func TestUnknownOutcomesWhereNobodyCanBeAsked(t *testing.T) {
	for policy, c := range map[flow.Option]struct {
		want string
		uses int
	}{
		"":               {"Nobody knows whether it took effect.", 0},
		flow.OptionTell:  {"Nobody knows whether it took effect.", 0},
		flow.OptionAgain: {"3", 1},
	} {
		count := &stage.Tally{}
		engine, id := inUse(t, count, true, flow.ToolPolicy{Unknown: policy})
		session := stage.Reopen(t, engine, id)
		record := stage.Ended(t, session)
		assert.Contains(t, adaSaid(t, record), c.want)
		assert.Len(t, count.Times, c.uses)
		require.Len(t, record.Answers, 1)
		assert.True(t, record.Answers[0].Rule)
		require.NoError(t, session.Close())
	}
}

func TestAnUnknownOutcomeMayStopTheConversation(t *testing.T) {
	count := &stage.Tally{}
	engine, id := inUse(t, count, true, flow.ToolPolicy{Unknown: flow.OptionFail})
	session := stage.Reopen(t, engine, id)
	defer session.Close()
	_, err := session.Wait(t.Context())
	assert.Equal(t, "work.Ada.tool.1", stage.RequireKind(t, err, provider.KindState).Op)
	require.NoError(t, session.Retry(t.Context()))
	_, err = session.Wait(t.Context())
	stage.RequireKind(t, err, provider.KindState)
	require.NoError(t, session.Control(t.Context(), flow.Amendment{Unattended: new(false)}))
	require.NoError(t, session.Retry(t.Context()))
	record := stage.AwaitsInput(t, session)
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionTell}))
	stage.Ended(t, session)
	assert.Empty(t, count.Times)
}

// A use that a person has made again may be lost once more. It is asked about once more.
func TestAUseIsAskedAboutEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := 0
		tool, err := flow.NewTool(flow.ToolInfo{Description: "takes its time", Approval: true},
			func(ctx context.Context, _ flow.ToolUse, _ struct{}) (string, error) {
				begun++
				select {
				case <-ctx.Done():
					return "", errors.New("half of it is done")
				case <-time.After(time.Minute):
					return "all of it is done", nil
				}
			})
		require.NoError(t, err)
		p := stage.AdaAlone(stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", "add", `{}`)}))
		engine := stage.WorkshopEngine(p, 5, map[string]debate.Tool{"add": tool})
		session := stage.Started(t, engine, stage.InFlow(engine, stage.ToolUsers()))
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: stage.AwaitsInput(t, session).Inquiries[0].ID, Option: flow.OptionApprove}))
		for attempt := 1; attempt <= 2; attempt++ {
			synctest.Wait()
			require.NoError(t, session.Pause(t.Context()))
			synctest.Wait()
			require.NoError(t, session.Resume(t.Context()))
			q := stage.AwaitsInput(t, session).Inquiries[0]
			assert.Equal(t, attempt, q.Use.Attempt, "it is approved already")
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionAgain}))
		}
		record := stage.Ended(t, session)
		assert.Equal(t, 3, begun)
		require.Len(t, record.ToolUses, 3)
		assert.Contains(t, record.ToolUses[0].Text, "half of it is done")
		assert.Equal(t, "all of it is done", record.ToolUses[2].Text)
		assert.NotContains(t, adaSaid(t, record), "half", "the model reads what came in the end")
	})
}

// A log in which a use is made again without anybody's decision is refused.
func TestALogThatRepeatsAUse(t *testing.T) {
	engine, id := inUse(t, &stage.Tally{}, false, flow.ToolPolicy{})
	session := stage.Reopen(t, engine, id)
	stage.AwaitsInput(t, session)
	require.NoError(t, session.Close())
	l := stage.LogOf(t, engine, id)
	again := l.Index(t, flow.EventTool, 0) + 1
	events := l.Copied(t)[:again]
	for _, e := range l.Copied(t)[:again] {
		if in := body.As[flow.Intent](e); in != nil && in.Tool != "" {
			in.Attempt = 2
			events = append(events, flow.Event{Seq: int64(again + 1), At: events[again-1].At, Body: in})
		}
	}
	_, err := kernel.Of(t, engine).NewCore(id, events)
	stage.RequireKind(t, err, provider.KindValidation)
	assert.ErrorContains(t, err, "nobody has decided to make")
}

// A use that has taken too long has no known outcome either: a person is asked about it. A policy that makes it again does so as
// often as other time-outs are retried.
func TestAUseThatTookTooLongHasNoKnownOutcome(t *testing.T) {
	slow := func() debate.Tool {
		tool, err := flow.NewTool(flow.ToolInfo{}, func(ctx context.Context, _ flow.ToolUse, _ struct{}) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		})
		require.NoError(t, err)
		return tool
	}
	asks := []provider.ToolCall{stage.ToolCall("1", "add", `{}`)}
	synctest.Test(t, func(t *testing.T) {
		engine := stage.WorkshopEngine(stage.AdaAlone(stage.ToolAsker(asks)), 10, map[string]debate.Tool{"add": slow()})
		session := stage.Started(t, engine, stage.InFlow(engine, stage.ToolUsers()))
		record := stage.AwaitsInput(t, session)
		require.Len(t, record.Inquiries, 1)
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionDone, Text: "It is done."}))
		assert.Contains(t, adaSaid(t, stage.Ended(t, session)), "It is done.")
	})
	synctest.Test(t, func(t *testing.T) {
		engine := stage.WorkshopEngine(stage.AdaAlone(stage.ToolAsker(asks)), 10, map[string]debate.Tool{"add": slow()})
		config := stage.ToolUsers()
		config.Unattended, config.ToolPolicy = true, flow.ToolPolicy{Unknown: flow.OptionAgain}
		config.Retry = &flow.RetryPolicy{Max: map[flow.Kind]int{provider.KindTimeout: 2}}
		record := stage.Run(t, engine, stage.InFlow(engine, config))
		assert.Len(t, record.ToolUses, 3)
		assert.Contains(t, adaSaid(t, record), "Nobody knows")
	})
}
