package tool_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// exchanging is a workshop whose calls take so many replies. A person decides about those that fail.
func exchanging(uses, exchanges int) *debate.Flow {
	f := stage.Workshop(uses)
	step := f.Steps["working"]
	missing := step.Calls
	step.Calls = func(r *debate.Record) []*flow.Call {
		calls := missing(r)
		for i := range calls {
			calls[i].Exchanges, calls[i].OnFail = exchanges, flow.OnFail{Instead: []flow.Kind{provider.KindToolLimit}}
		}
		return calls
	}
	f.Steps["working"] = step
	return f
}

func exchangingEngine(t *testing.T, p provider.Provider, c *stage.Tally, uses, exchanges int) *debate.Engine {
	t.Helper()
	engine := stage.WorkshopEngine(p, uses, map[string]debate.Tool{"add": c.Tool(t, false)})
	engine.Flows = map[string]*debate.Flow{"workshop": exchanging(uses, exchanges)}
	return engine
}

// A call takes so many replies. Whoever asks for tools in the last one has failed, and the log says of what.
func TestRepliesThatAskForToolsAreBounded(t *testing.T) {
	for name, c := range map[string]struct{ uses, exchanges, want int }{
		"uses are no bound": {0, 3, 2}, "uses end first": {1, 3, 1}, "no tool at all": {5, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			count := &stage.Tally{}
			forever := stage.AdaAlone(&scripted.Provider{Record: true, Reply: func(*provider.Request) scripted.Reply {
				return scripted.Reply{Text: "Once more.", Calls: stage.OneSum(1)[0]}
			}})
			engine := exchangingEngine(t, forever, count, c.uses, c.exchanges)
			record := stage.Run(t, engine, stage.InFlow(engine, stage.ToolUsers()))
			require.True(t, record.Failed("work.Ada"))
			assert.Equal(t, provider.KindToolLimit, record.FailureOf("work.Ada").Kind)
			assert.Len(t, count.Times, c.want)
			require.Len(t, record.Failures, 1)
			assert.Equal(t, "Once more.", record.Failures[0].Text)
			assert.Equal(t, c.exchanges > 1, record.UsedUp("work.Ada"))
			assert.False(t, record.UsedUp("work.Ben"))
			var last provider.Request
			requests := 0
			for _, req := range forever.Requests() {
				if req.Self == "Ada" {
					last, requests = req, requests+1
				}
			}
			assert.Equal(t, c.exchanges, requests)
			if c.exchanges > 1 {
				assert.Contains(t, last.Last.Text, "You may use no more tools")
			} else {
				assert.Empty(t, last.Tools)
			}
			read := stage.StoredRecord(t, engine, record.ID)
			assert.Equal(t, provider.KindToolLimit, read.FailureOf("work.Ada").Kind)
		})
	}
}

// A model that answers in its last reply has answered, and the turn says that it came to the limit.
func TestALimitOfToolsIsAMarkOfTheTurn(t *testing.T) {
	for name, c := range map[string]struct {
		uses, exchanges, asks int
		want                  bool
	}{
		"the last reply": {0, 3, 2, true}, "one reply is left": {0, 3, 1, false}, "all uses": {2, 0, 2, true}, "one use is left": {2, 0, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			engine := exchangingEngine(t, stage.AdaAlone(stage.ToolAsker(stage.OneSum(c.asks)...)), &stage.Tally{}, c.uses, c.exchanges)
			record := stage.Run(t, engine, stage.InFlow(engine, stage.ToolUsers()))
			for _, turn := range record.Turns {
				assert.Equal(t, c.want && turn.Speaker == "Ada", turn.UsedUp)
				assert.Equal(t, turn.UsedUp, record.UsedUp(turn.Call))
			}
		})
	}
}

// Whoever tries again after the limit has all replies once more.
func TestARetryHasAllRepliesOnceMore(t *testing.T) {
	f := exchanging(0, 2)
	step := f.Steps["working"]
	missing := step.Calls
	step.Calls = func(r *debate.Record) []*flow.Call {
		calls := missing(r)
		for i := range calls {
			calls[i].OnFail = flow.OnFail{}
		}
		return calls
	}
	// workshop leaves out what has failed, so that nobody would be asked
	step.Next = func(r *debate.Record) (debate.Trigger, flow.Exit, bool) {
		return "worked", flow.Exit{}, r.Done("work.Ada")
	}
	f.Steps["working"] = step
	count := &stage.Tally{}
	p := stage.AdaAlone(stage.ToolAsker(stage.OneSum(3)...))
	engine := exchangingEngine(t, p, count, 0, 2)
	engine.Flows = map[string]*debate.Flow{"workshop": f}
	session := stage.Started(t, engine, stage.InFlow(engine, stage.ToolUsers()))
	_, err := session.Wait(t.Context())
	stage.RequireKind(t, err, provider.KindToolLimit)
	require.NoError(t, session.Retry(t.Context()))
	_, err = session.Wait(t.Context())
	stage.RequireKind(t, err, provider.KindToolLimit)
	assert.Len(t, count.Times, 2)
	assert.Len(t, p.Requests(), 5, "two of Ada before the retry and two after it, and one of Ben")
}
