package arbiter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// uses is a reply that asks for a tool.
func uses(tool, arguments string) scripted.Reply {
	return scripted.Reply{Calls: []provider.ToolCall{{ID: "1", Name: tool, Arguments: json.RawMessage(arguments)}}}
}

// byReply answers with the first reply, then the second, and so on; the last comes again and again. Replies are counted
// by the results of tools that the request shows.
func byReply(replies ...scripted.Reply) func(*provider.Request) scripted.Reply {
	return func(req *provider.Request) scripted.Reply {
		n := 0
		for i := range req.Messages {
			if req.Messages[i].ToolResult != nil {
				n++
			}
		}
		return replies[min(n, len(replies)-1)]
	}
}

type numbers struct {
	N int `json:"n"`
}

func double(t testing.TB, info flow.ToolInfo) flow.Tool {
	t.Helper()
	made, err := flow.NewTool(info, func(_ context.Context, _ flow.ToolUse, args numbers) (string, error) {
		switch args.N {
		case 0:
			return "", errors.New("nothing to double")
		case 13:
			panic("unlucky") //nolint:forbidigo // the fault of a tool of the host program
		default:
			return fmt.Sprint(2 * args.N), nil
		}
	})
	require.NoError(t, err)
	return made
}

// equipped is work in which Ada has a tool, and at most four replies.
func equipped() arbiter.Config {
	c := config()
	c.Agents[0].Tools, c.Agents[0].MaxIterations = []string{"double"}, 4
	return c
}

// What a tool answers, or why it was not used, goes back to the model, and stands in the history with its arguments.
func TestAgentsUseTools(t *testing.T) {
	for name, test := range map[string]struct {
		ask  scripted.Reply
		want flow.UsedTool
	}{
		"an answer":       {uses("double", `{"n":21}`), flow.UsedTool{Tool: "double", Arguments: json.RawMessage(`{"n":21}`), Text: "42"}},
		"an error":        {uses("double", `{"n":0}`), flow.UsedTool{Text: "nothing to double", Failed: true}},
		"bad arguments":   {uses("double", `{"n":"x"}`), flow.UsedTool{Text: "the arguments are wrong", Failed: true}},
		"no JSON":         {uses("double", `{"n":`), flow.UsedTool{Text: "The arguments are no JSON", Failed: true, Denied: true}},
		"an unknown tool": {uses("halve", `{}`), flow.UsedTool{Tool: "halve", Text: "There is no tool of this name.", Failed: true, Denied: true}},
		"a panic":         {uses("double", `{"n":13}`), flow.UsedTool{Text: "the tool has broken down", Failed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			done := scripted.Reply{Text: toJSON(arbiter.Result{Success: true, Output: "Done."})}
			engine, _ := engineFor(answers{"r1.Ada": byReply(test.ask, done), "d2": completes("Done.")})
			engine.Tools = map[string]debate.Tool{"double": double(t, flow.ToolInfo{Description: "doubles"})}
			w := worked(t, engine, equipped())
			e := w.Executions()[0]
			assert.Equal(t, arbiter.Success, e.Result)
			require.Len(t, e.Uses, 1)
			got := e.Uses[0]
			assert.Contains(t, got.Text, test.want.Text)
			assert.Equal(t, []bool{test.want.Failed, test.want.Denied}, []bool{got.Failed, got.Denied})
			if test.want.Tool != "" {
				assert.Equal(t, test.want.Tool, got.Tool)
			}
			assert.Positive(t, e.Usage.Output)
			assert.False(t, e.StartedAt.IsZero() || e.EndedAt.IsZero() || e.UsedUp)
		})
	}
}

// An agent that comes to its limit of replies is told so. If it still asks for tools, the execution has failed, and the
// arbiter sees why.
func TestTheLimitOfRepliesIsALabelledFailure(t *testing.T) {
	done := scripted.Reply{Text: toJSON(arbiter.Result{Success: true, Output: "Done."})}
	again := uses("double", `{"n":1}`)
	for _, test := range []struct {
		last   scripted.Reply
		result arbiter.Outcome
		shown  string
	}{
		{again, arbiter.Failed, "the model still asks for tools in the last of 4 replies"},
		{done, arbiter.Success, "1. Ada, at its limit of replies: reports success: Done."},
	} {
		engine, p := engineFor(answers{"r1.Ada": byReply(again, again, again, test.last), "d2": completes("Done.")})
		p.Record = true
		engine.Tools = map[string]debate.Tool{"double": double(t, flow.ToolInfo{Description: "doubles"})}
		w := worked(t, engine, equipped())
		e := w.Executions()[0]
		assert.Equal(t, test.result, e.Result)
		assert.True(t, e.UsedUp)
		assert.Len(t, e.Uses, 3)
		requests := p.Requests()
		assert.Contains(t, requests[len(requests)-1].Last.Text, test.shown)
		assert.Equal(t, flow.StateCompleted, w.State)
	}
}

// A result that is not accepted is asked for again with what the tools have answered, and with what was wrong behind it.
func TestToolsAreNotUsedAgainForARejectedResult(t *testing.T) {
	done := scripted.Reply{Text: toJSON(arbiter.Result{Success: true, Output: "Done."})}
	var asked *provider.Request
	engine, _ := engineFor(answers{
		"r1.Ada": byReply(uses("double", `{"n":21}`), scripted.Reply{Text: "no JSON"}), "d2": completes("Done."),
		"r1.Ada again": func(req *provider.Request) scripted.Reply {
			asked = req
			return done
		},
	})
	engine.Tools = map[string]debate.Tool{"double": double(t, flow.ToolInfo{Description: "doubles"})}
	w := worked(t, engine, equipped())
	e := w.Executions()[0]
	assert.Equal(t, []any{arbiter.Success, 1}, []any{e.Result, len(e.Uses)})
	require.Len(t, asked.Messages, 3)
	require.NotNil(t, asked.Messages[2].ToolResult)
	assert.Contains(t, asked.Messages[2].ToolResult.Text, "42")
	assert.NotContains(t, asked.Messages[0].Text, "was refused")
	assert.Contains(t, asked.Last.Text, "left to you: 1.", "the rejected reply is one of the four")
}

// The label stands also where one reply is all that there is, and the model asks for a tool in it.
func TestTheLimitOfOneReplyIsLabelled(t *testing.T) {
	engine, p := engineFor(answers{"r1.Ada": byReply(uses("double", `{"n":1}`)), "d2": completes("Done.")})
	p.Record = true
	engine.Tools = map[string]debate.Tool{"double": double(t, flow.ToolInfo{Description: "doubles"})}
	c := equipped()
	c.Agents[0].MaxIterations = 1
	w := worked(t, engine, c)
	assert.True(t, w.Executions()[0].UsedUp)
	requests := p.Requests()
	assert.Contains(t, requests[len(requests)-1].Last.Text, "1. Ada, at its limit of replies: failed:")
}

// A tool may need a person's approval: approved, denied with a reason that the model reads, or always.
func TestAPersonApprovesUses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := scripted.Reply{Text: toJSON(arbiter.Result{Success: true, Output: "Done."})}
		engine, _ := engineFor(answers{"r1.Ada": byReply(uses("double", `{"n":1}`), uses("double", `{"n":2}`), uses("double", `{"n":3}`), done)})
		engine.Tools = map[string]debate.Tool{"double": double(t, flow.ToolInfo{Description: "doubles", Approval: true})}
		c := equipped()
		c.Unattended = false
		session := stage.Started(t, engine, c)
		for i, option := range []flow.Option{flow.OptionDeny, flow.OptionAlways} {
			record := stage.AwaitsInput(t, session)
			require.Len(t, record.Inquiries, 1)
			q := record.Inquiries[0]
			assert.JSONEq(t, fmt.Sprintf(`{"n":%d}`, i+1), q.Use.Arguments)
			if option == flow.OptionDeny {
				require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: option, Text: "one is enough"}))
			} else {
				require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: option}))
			}
		}
		record := stage.Ended(t, session)
		w, _ := arbiter.Of(record)
		var texts []string
		for _, u := range w.Executions()[0].Uses {
			texts = append(texts, u.Text)
		}
		require.Len(t, texts, 3)
		assert.Contains(t, texts[0], "one is enough")
		assert.Equal(t, []string{"4", "6"}, texts[1:])
	})
}

// TestAnAgentKeepsItsUsesOfTools: what its tools have answered in an earlier execution stands in the next one of the same agent, and in
// no other's. A model without tools reads it too.
func TestAnAgentKeepsItsUsesOfTools(t *testing.T) {
	for name, plain := range map[string]bool{"with tools": false, "a model without tools": true} {
		t.Run(name, func(t *testing.T) {
			var second, third, others *provider.Request
			done := func(at **provider.Request) func(*provider.Request) scripted.Reply {
				return func(req *provider.Request) scripted.Reply {
					*at = req
					return scripted.Reply{Text: toJSON(arbiter.Result{Success: true, Output: "Done."})}
				}
			}
			var last *provider.Request
			engine, p := engineFor(answers{
				"d1": picks("Ada"), "d2": picks("Ada", "Ben"), "d4": picks("Ada"), "d6": completes("Done."),
				"r1.Ada": byReply(uses("double", `{"n":21}`), scripted.Reply{Text: toJSON(arbiter.Result{Success: true, Output: "Done."})}),
				"r2.Ada": done(&second), "r2.Ben": done(&others),
				"r3.Ada": func(req *provider.Request) scripted.Reply {
					if third = req; last == nil && !plain {
						last = req
						return uses("double", `{"n":4}`)
					}
					return done(&last)(req)
				},
			})
			engine.Tools = map[string]debate.Tool{"double": double(t, flow.ToolInfo{Description: "doubles"})}
			c := equipped()
			c.Agents[1].Tools, c.Parallel = []string{"double"}, 2
			if plain {
				engine.Models = map[string]debate.Model{"test/plain": {Unsupported: []provider.Ability{provider.AbilityTools}}}
				c.Agents[0].Fallbacks = []string{"test/plain"}
				reply := p.Reply
				p.Reply = func(req *provider.Request) scripted.Reply {
					if callOf(req) == "r2.Ada" && req.Model != "plain" {
						return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal}}
					}
					return reply(req)
				}
			}
			worked(t, engine, c)
			require.NotNil(t, second)
			require.NotNil(t, others)
			for i := range others.Messages {
				assert.Nil(t, others.Messages[i].ToolResult)
			}
			if plain {
				assert.Contains(t, second.Last.Text, "42")
				return
			}
			asked, answered := usesIn(second)
			assert.Equal(t, []string{`{"n":21}`}, asked)
			require.Len(t, answered, 1)
			assert.Contains(t, answered[0], "42")
			assert.Contains(t, second.Last.Text, "Do your assignment now", "the instruction comes last")
			asked, answered = usesIn(third)
			assert.Equal(t, []string{`{"n":21}`, `{"n":4}`}, asked)
			require.Len(t, answered, 2)
			assert.Contains(t, answered[1], "8")
		})
	}
}

// usesIn returns the arguments and answers of the uses of tools that a request shows.
func usesIn(req *provider.Request) (asked, answered []string) {
	for i := range req.Messages {
		for _, call := range req.Messages[i].ToolCalls {
			asked = append(asked, string(call.Arguments))
		}
		if result := req.Messages[i].ToolResult; result != nil {
			answered = append(answered, result.Text)
		}
	}
	return asked, answered
}

// TestTheNewestUsesAreKept: of many long answers only the newest are shown again, so that long work has bounded requests.
func TestTheNewestUsesAreKept(t *testing.T) {
	const rounds = 8
	script, longest := answers{"d1": picks("Ada"), fmt.Sprintf("d%d", 2*rounds): completes("Done.")}, 0
	for n := 1; n <= rounds; n++ {
		if n < rounds { // who acts next is decided at an evaluation, and taken up at a selection
			script[fmt.Sprintf("d%d", 2*n)] = picks("Ada")
		}
		asked := false
		script[fmt.Sprintf("r%d.Ada", n)] = func(req *provider.Request) scripted.Reply {
			size := 0
			_, answered := usesIn(req)
			for _, text := range answered {
				size += len(text)
			}
			if longest = max(longest, size); !asked {
				asked = true
				return uses("long", fmt.Sprintf(`{"n":%d}`, n))
			}
			require.Contains(t, answered[len(answered)-1], fmt.Sprintf("answer %d:", n))
			return scripted.Reply{Text: toJSON(arbiter.Result{Success: true, Output: "Done."})}
		}
	}
	engine, _ := engineFor(script)
	long, err := flow.NewTool(flow.ToolInfo{Description: "is long"}, func(_ context.Context, _ flow.ToolUse, args numbers) (string, error) {
		return fmt.Sprintf("answer %d: %s", args.N, strings.Repeat("word ", 6000)), nil
	})
	require.NoError(t, err)
	engine.Tools = map[string]debate.Tool{"long": long}
	c := equipped()
	c.Agents[0].Tools = []string{"long"}
	w := worked(t, engine, c)
	assert.Equal(t, flow.StateCompleted, w.State)
	assert.Greater(t, longest, 64<<10, "those of two executions, and its own")
	assert.Less(t, longest, 100<<10)
}

// TestLongTextsBesideUsesAreNotShownAgain: what an agent has said beside its uses of tools may leave no room to show them again. Then the
// execution is made without them.
func TestLongTextsBesideUsesAreNotShownAgain(t *testing.T) {
	ask := uses("double", `{"n":21}`)
	ask.Text = strings.Repeat("word ", 5200)
	after := func(asks int) func(*provider.Request) scripted.Reply {
		return func(*provider.Request) scripted.Reply {
			if asks--; asks >= 0 {
				return ask
			}
			return scripted.Reply{Text: toJSON(arbiter.Result{Success: true, Output: "Done."})}
		}
	}
	engine, p := engineFor(answers{
		"d1": picks("Ada"), "d2": picks("Ada"), "d4": completes("Done."), "r1.Ada": after(2), "r2.Ada": after(1),
	})
	p.Record = true
	engine.Tools = map[string]debate.Tool{"double": double(t, flow.ToolInfo{Description: "doubles"})}
	c := equipped()
	engine.Models = map[string]debate.Model{c.Agents[0].Model: {Window: 20_000}}
	w := worked(t, engine, c)
	assert.Equal(t, flow.StateCompleted, w.State)
	second := 0
	for _, req := range p.Requests() {
		if callOf(&req) == "r2.Ada" {
			second++
		}
	}
	assert.Equal(t, 2, second, "one with a use, and one with the result")
}

// TestUsesThatAreShownAgainAreCut: an execution with more and longer answers than there is room for is shown again all the same, each
// answer with its use. Its ids, which the server numbers anew in each reply, are unique within a request.
func TestUsesThatAreShownAgainAreCut(t *testing.T) {
	ask := scripted.Reply{}
	for n := range 3 {
		ask.Calls = append(ask.Calls, provider.ToolCall{
			ID: fmt.Sprintf("call_%d", n), Name: "long", Arguments: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)),
		})
	}
	until := func(uses int) func(*provider.Request) scripted.Reply {
		return func(req *provider.Request) scripted.Reply {
			if asked, _ := usesIn(req); len(asked) < uses {
				return ask
			}
			return scripted.Reply{Text: toJSON(arbiter.Result{Success: true, Output: "Done."})}
		}
	}
	engine, p := engineFor(answers{
		"d1": picks("Ada"), "d2": picks("Ada"), "d4": completes("Done."), "r1.Ada": until(3), "r2.Ada": until(9),
	})
	p.Record = true
	long, err := flow.NewTool(flow.ToolInfo{Description: "is long"}, func(_ context.Context, _ flow.ToolUse, args numbers) (string, error) {
		return fmt.Sprintf("answer %d: %s", args.N, strings.Repeat("word ", 6000)), nil
	})
	require.NoError(t, err)
	engine.Tools = map[string]debate.Tool{"long": long}
	c := equipped()
	c.Agents[0].Tools = []string{"long"}
	worked(t, engine, c)
	shown := 0
	for _, req := range p.Requests() {
		ids, open := map[string]bool{}, map[string]bool{}
		for i := range req.Messages {
			for _, call := range req.Messages[i].ToolCalls {
				assert.False(t, ids[call.ID], "%s: %s", req.ID, call.ID)
				ids[call.ID], open[call.ID] = true, true
			}
			if result := req.Messages[i].ToolResult; result != nil {
				assert.True(t, open[result.ID], "%s: %s", req.ID, result.ID)
				delete(open, result.ID)
			}
		}
		assert.Empty(t, open)
		if callOf(&req) != "r2.Ada" {
			continue
		}
		shown++
		asked, answered := usesIn(&req)
		require.GreaterOrEqual(t, len(asked), 3)
		size := 0
		for i, text := range answered[:3] {
			assert.Contains(t, text, fmt.Sprintf("answer %d:", i))
			size += len(text)
		}
		assert.Contains(t, answered[0], "is cut here")
		assert.NotContains(t, answered[2], "is cut here")
		assert.Less(t, size, 65<<10)
		assert.Len(t, asked, 3*shown)
	}
	assert.Equal(t, 3, shown)
}
