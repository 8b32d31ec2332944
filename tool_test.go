package debate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// workshop is a flow in which everybody works on something with tools, all at once.
func workshop(uses int) *debate.Flow {
	return ofDebates(&debate.Flow{
		Name: "workshop", Version: 1, Start: "working",
		Rules: []debate.Rule{{From: "working", On: "worked", To: flow.StateCompleting}},
		Steps: map[debate.State]flow.Step{"working": {
			Calls: func(r *debate.Record) []flow.Call {
				var calls []flow.Call
				for i, name := range r.Active() {
					if id := "work." + name; !r.Done(id) && !r.Failed(id) {
						calls = append(calls, flow.Call{
							ID: id, Kind: "work", By: name, Model: modelOf(r, name), Slot: i, View: flow.View{None: true}, System: "You work.",
							Last: func(*debate.Record) string { return "Compute, " + name + "." }, Tools: r.Terms().Tools, Uses: uses,
							Continues: 2, OnFail: flow.OnFail{Aid: true},
						})
					}
				}
				return calls
			},
			Next: func(*debate.Record) (debate.Trigger, flow.Exit, bool) { return "worked", flow.Exit{}, true },
		}},
	})
}

type sum struct {
	A int `json:"a"`
	B int `json:"b"`
}

// tally makes a tool that counts how often each use was made.
type tally struct {
	mu    sync.Mutex
	times map[string]int
}

func (c *tally) tool(t testing.TB, readOnly bool) debate.Tool {
	t.Helper()
	return c.of(t, flow.ToolInfo{ReadOnly: readOnly})
}

// of is tool with a description of its own.
func (c *tally) of(t testing.TB, info flow.ToolInfo) debate.Tool {
	t.Helper()
	tool, err := c.newTool(info)
	require.NoError(t, err)
	return tool
}

// mustTool is tool where no test is at hand: the arguments are known to be a schema.
func (c *tally) mustTool() debate.Tool {
	tool, _ := c.newTool(flow.ToolInfo{ReadOnly: true})
	return tool
}

func (c *tally) newTool(info flow.ToolInfo) (debate.Tool, error) {
	info.Description = "adds two numbers"
	return flow.NewTool(info, func(_ context.Context, use flow.ToolUse, args sum) (string, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.times == nil {
			c.times = make(map[string]int)
		}
		c.times[use.Call]++
		if args.A < 0 {
			return "", errors.New("no negative numbers here")
		}
		return fmt.Sprint(args.A + args.B), nil
	})
}

func toolCall(id, name, args string) provider.ToolCall {
	return provider.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)}
}

// worker asks for tools, then says what they have answered.
func worker(asks ...[]provider.ToolCall) *scripted.Provider {
	return &scripted.Provider{Record: true, Reply: func(req *provider.Request) scripted.Reply {
		asked := 0
		var answers []string
		for _, m := range req.Messages {
			if len(m.ToolCalls) > 0 {
				asked++
			}
			if m.ToolResult != nil {
				answers = append(answers, m.ToolResult.Text)
			}
		}
		if asked < len(asks) {
			return scripted.Reply{Text: "Let me see.", Calls: asks[asked]}
		}
		return scripted.Reply{Text: "Answers: " + strings.Join(answers, "; ")}
	}}
}

func workers() debate.Config {
	return debate.Config{
		Topic: "Sums", Tools: []string{"add"},
		Participants: []debate.Participant{{Name: "Ada", Model: "test/debater"}, {Name: "Ben", Model: "test/debater"}},
	}
}

func workshopEngine(p provider.Provider, uses int, tools map[string]debate.Tool) *debate.Engine {
	return &debate.Engine{
		Providers: map[string]debate.Provider{"test": p}, Tools: tools, Flows: map[string]*debate.Flow{"workshop": workshop(uses)},
	}
}

func TestToolsAreUsedBetweenTwoRepliesOfOneCall(t *testing.T) {
	sealed := toolCall("1", "add", `{"a":1,"b":2}`)
	sealed.Opaque = json.RawMessage(`{"signature":"of the vendor"}`)
	p := worker([]provider.ToolCall{sealed, toolCall("2", "add", `{"a":3,"b":4}`)},
		[]provider.ToolCall{toolCall("3", "add", `{"a":5,"b":6}`)})
	c := &tally{}
	engine := workshopEngine(p, 10, map[string]debate.Tool{"add": c.tool(t, false)})
	record := run(t, engine, inFlow(engine, workers()))
	require.Len(t, record.Turns, 2)
	require.Len(t, record.ToolUses, 6)
	for _, turn := range record.Turns {
		for _, sum := range []string{"3", "7", "11"} {
			assert.Contains(t, turn.Text, "\n"+sum+"\n", "each answer stands in a fence")
		}
	}
	assert.Len(t, c.times, 6)
	for use, times := range c.times {
		assert.Equal(t, 1, times, use)
	}
	assert.Equal(t, 6, record.Spent().Requests, "three attempts of each; a tool is no request")

	var last provider.Request
	for _, req := range p.Requests() {
		if req.Self == "Ada" {
			last = req
		}
	}
	require.Len(t, last.Tools, 1)
	assert.Equal(t, "adds two numbers", last.Tools[0].Description)
	require.Len(t, last.Messages, 6)
	assert.Equal(t, "Compute, Ada.", last.Messages[0].Text)
	assert.Len(t, last.Messages[1].ToolCalls, 2)
	assert.JSONEq(t, string(sealed.Opaque), string(last.Messages[1].ToolCalls[0].Opaque), "it is the vendor's")
	assert.Equal(t, "1", last.Messages[2].ToolResult.ID)
	assert.Contains(t, last.Last.Text, "tools 7 more times")
}

func TestWhatIsWrongWithAUseIsToldToTheModel(t *testing.T) {
	for name, c := range map[string]struct {
		call provider.ToolCall
		want string
	}{
		"no such tool":      {toolCall("1", "multiply", `{}`), "There is no tool of this name."},
		"no JSON":           {toolCall("1", "add", `{"a":`), "The arguments are no JSON: "},
		"too deep":          {toolCall("1", "add", strings.Repeat("[", 9_998)+strings.Repeat("]", 9_998)), "The arguments are no JSON: "},
		"too long":          {toolCall("1", "add", `{"a":"`+strings.Repeat("x", 300_000)+`"}`), "The arguments are no JSON: "},
		"wrong arguments":   {toolCall("1", "add", `{"a":"one"}`), "the arguments are wrong"},
		"no object":         {toolCall("1", "add", `[1]`), "the arguments are wrong"},
		"no arguments":      {toolCall("1", "add", ``), "the arguments are wrong"},
		"the tool fails":    {toolCall("1", "add", `{"a":-1,"b":0}`), "no negative numbers here"},
		"a key given twice": {toolCall("1", "add", `{"a":1,"a":2,"b":3}`), "The arguments are no JSON: "},
	} {
		t.Run(name, func(t *testing.T) {
			for _, readOnly := range []bool{false, true} {
				count := &tally{}
				engine := workshopEngine(worker([]provider.ToolCall{c.call}), 10, map[string]debate.Tool{"add": count.tool(t, readOnly)})
				record := run(t, engine, inFlow(engine, workers()))
				require.Len(t, record.Turns, 2)
				assert.Contains(t, record.Turns[0].Text, c.want)
			}
		})
	}
}

func TestToolsAreUsedNoMoreThanAllowed(t *testing.T) {
	one := []provider.ToolCall{toolCall("1", "add", `{"a":1,"b":2}`)}
	two := []provider.ToolCall{one[0], toolCall("2", "add", `{"a":3,"b":4}`)}
	c := &tally{}
	engine := workshopEngine(worker(one, two), 2, map[string]debate.Tool{"add": c.tool(t, false)})
	record := run(t, engine, inFlow(engine, workers()))
	assert.Len(t, c.times, 4, "two each")
	assert.Contains(t, record.Turns[0].Text, "No tool may be used any more: 2 uses are allowed.")

	forever := &scripted.Provider{Record: true, Reply: func(*provider.Request) scripted.Reply { return scripted.Reply{Calls: one} }}
	synctest.Test(t, func(t *testing.T) {
		engine = workshopEngine(forever, 2, map[string]debate.Tool{"add": c.tool(t, false)})
		record = run(t, engine, inFlow(engine, workers()))
		assert.Empty(t, record.Turns)
		assert.True(t, record.Failed("work.Ada"), "who never replies has failed")
		assert.Equal(t, provider.KindInvalidResponse, record.FailureOf("work.Ada").Kind)
		assert.Nil(t, record.FailureOf("work.Eve"), "who was never asked has not")
		assert.Len(t, record.ToolUses, 4)
		assert.Len(t, forever.Requests(), 14, "two uses, three denied, and the failure with its retry, for each")
	})
}

// A model may say anything in what it calls; nothing of it breaks the log.
func TestHostileToolCalls(t *testing.T) {
	many := make([]provider.ToolCall, 1000)
	for i := range many {
		many[i] = toolCall(fmt.Sprint(i), "add", `{"a":1,"b":1}`)
	}
	for name, calls := range map[string][]provider.ToolCall{
		"many":           many,
		"long names":     {toolCall(strings.Repeat("i", 1<<20), strings.Repeat("n", 1<<20), `{}`)},
		"no UTF-8":       {toolCall("\xff", "\xfe", "\"\xff\"")},
		"broken sealing": {{ID: "1", Name: "add", Arguments: json.RawMessage(`{"a":1,"b":1}`), Opaque: json.RawMessage(`{`)}},
		"deep sealing":   {{ID: "1", Name: "add", Opaque: json.RawMessage(strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999))}},
		"no id":          {toolCall("", "add", `{"a":1,"b":1}`), toolCall("", "add", `{"a":1,"b":1}`)},
	} {
		t.Run(name, func(t *testing.T) {
			c := &tally{}
			engine := workshopEngine(worker(calls), 5, map[string]debate.Tool{"add": c.tool(t, false)})
			record := run(t, engine, inFlow(engine, workers()))
			require.Len(t, record.Turns, 2)
			assert.LessOrEqual(t, len(c.times), 10)
			l := logOf(t, engine, record.ID)
			_, err := engine.NewCore(l.id, l.copied(t))
			require.NoError(t, err)
		})
	}
}

// Each state and round has its uses.
func TestUsesAreThoseOfAState(t *testing.T) {
	f := workshop(1)
	again := f.Steps["working"]
	f.Rules = []debate.Rule{
		{From: "working", On: "worked", To: "reworking"}, {From: "reworking", On: "worked", To: flow.StateCompleting},
	}
	f.Steps["reworking"] = flow.Step{Next: again.Next, Calls: func(r *debate.Record) []flow.Call {
		var calls []flow.Call
		for i, name := range r.Active() {
			if id := "rework." + name; !r.Done(id) {
				calls = append(calls, flow.Call{
					ID: id, Kind: "work", By: name, Model: modelOf(r, name), Slot: 2 + i, View: flow.View{None: true},
					Last: func(*debate.Record) string { return "Once more." }, Tools: r.Terms().Tools, Uses: 1,
				})
			}
		}
		return calls
	}}
	c := &tally{}
	engine := workshopEngine(worker([]provider.ToolCall{toolCall("1", "add", `{"a":1,"b":2}`)}), 1, map[string]debate.Tool{"add": c.tool(t, false)})
	engine.Flows = map[string]*debate.Flow{"workshop": f}
	record := run(t, engine, inFlow(engine, workers()))
	assert.Len(t, record.Turns, 4)
	assert.Len(t, c.times, 4, "one use each in each of the two")
}

// described is a tool whose parameters are given as they are.
type described string

func (b described) Describe() flow.ToolInfo {
	return flow.ToolInfo{Parameters: json.RawMessage(b)}
}

func (b described) Use(context.Context, flow.ToolUse) (string, error) { return "", nil }

func TestToolsThatCannotBeOffered(t *testing.T) {
	good := (&tally{}).tool(t, true)
	engine := workshopEngine(worker(), 5, map[string]debate.Tool{"add": good})
	config := workers()
	config.Tools = []string{"add", "sing", "add"}
	err := engine.Validate(t.Context(), inFlow(engine, config))
	require.ErrorContains(t, err, `tools[1]: no tool "sing" is registered`)
	require.ErrorContains(t, err, "tools[2]")
	config = twoDebaters()
	config.Tools = []string{"add"}
	err = engine.Validate(t.Context(), config)
	require.ErrorContains(t, err, `tools: the flow "debate" lets nobody use tools`)
	for _, parameters := range []string{``, `null`, `[]`, `{"type":"string"}`, `{}`} {
		engine := &debate.Engine{Tools: map[string]debate.Tool{"raw": described(parameters)}}
		_, err := engine.New(debate.Config{})
		requireKind(t, err, provider.KindValidation)
	}
	config = workers()
	config.Participants[1].Name = "Ada.tool.1"
	require.ErrorContains(t, engine.Validate(t.Context(), inFlow(engine, config)), "participants[1].name")
	for name, tool := range map[string]debate.Tool{"": good, "two words": good, strings.Repeat("x", 65): good, "nothing": nil} {
		engine := &debate.Engine{Tools: map[string]debate.Tool{name: tool}}
		_, err := engine.New(debate.Config{})
		requireKind(t, err, provider.KindValidation)
	}
	_, err = flow.NewTool[sum](flow.ToolInfo{Description: "no function"}, nil)
	requireKind(t, err, provider.KindValidation)
}

// A tool may hold a debate of its own on the engine that asks it, however few calls that makes at once.
func TestAToolMayHoldADebate(t *testing.T) {
	p := worker([]provider.ToolCall{toolCall("1", "add", `{}`)})
	tools := make(map[string]debate.Tool)
	engine := workshopEngine(p, 5, tools)
	engine.MaxCalls = 1
	inner, err := flow.NewTool(flow.ToolInfo{Description: "asks others"}, func(ctx context.Context, _ flow.ToolUse, _ struct{}) (string, error) {
		config := workers()
		config.Tools = nil
		session, err := engine.Start(ctx, inFlow(engine, config))
		if err != nil {
			return "", err
		}
		defer session.Close()
		record, err := session.Wait(ctx)
		if err != nil {
			return "", err
		}
		return fmt.Sprint(len(record.Turns), " have spoken"), nil
	})
	require.NoError(t, err)
	tools["add"] = inner
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		if len(req.Tools) == 0 {
			return scripted.Reply{Text: "I am one of the others."}
		}
		return reply(req)
	}
	record := run(t, engine, inFlow(engine, workers()))
	assert.Contains(t, record.Turns[0].Text, "2 have spoken")
}

// Who reads tools' answers in a turn to come may read what everybody may.
func TestToolsReadWhatEverybodyMay(t *testing.T) {
	var seen []int
	var mu sync.Mutex
	look, err := flow.NewTool(flow.ToolInfo{Description: "looks", ReadOnly: true}, func(_ context.Context, use flow.ToolUse, _ struct{}) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, len(use.Turns))
		return use.By, nil
	})
	require.NoError(t, err)
	engine := workshopEngine(worker([]provider.ToolCall{toolCall("1", "add", `{}`)}), 5, map[string]debate.Tool{"add": look})
	record := run(t, engine, inFlow(engine, workers()))
	assert.Len(t, seen, 2)
	assert.Contains(t, record.Turns[0].Text, record.Turns[0].Speaker)
}
