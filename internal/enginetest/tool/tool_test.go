package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func TestToolsAreUsedBetweenTwoRepliesOfOneCall(t *testing.T) {
	sealed := stage.ToolCall("1", "add", `{"a":1,"b":2}`)
	sealed.Opaque = json.RawMessage(`{"signature":"of the vendor"}`)
	p := stage.ToolAsker([]provider.ToolCall{sealed, stage.ToolCall("2", "add", `{"a":3,"b":4}`)},
		[]provider.ToolCall{stage.ToolCall("3", "add", `{"a":5,"b":6}`)})
	c := &stage.Tally{}
	engine := stage.WorkshopEngine(p, 10, map[string]debate.Tool{"add": c.Tool(t, false)})
	record := stage.Run(t, engine, stage.InFlow(engine, stage.ToolUsers()))
	require.Len(t, record.Turns, 2)
	require.Len(t, record.ToolUses, 6)
	for _, turn := range record.Turns {
		for _, sum := range []string{"3", "7", "11"} {
			assert.Contains(t, turn.Text, "\n"+sum+"\n", "each answer stands in a fence")
		}
	}
	assert.Len(t, c.Times, 6)
	for use, times := range c.Times {
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
	assert.Contains(t, last.Last.Text, "left to you: 7.")
}

func TestWhatIsWrongWithAUseIsToldToTheModel(t *testing.T) {
	for name, c := range map[string]struct {
		call provider.ToolCall
		want string
	}{
		"no such tool":      {stage.ToolCall("1", "multiply", `{}`), "There is no tool of this name."},
		"no JSON":           {stage.ToolCall("1", "add", `{"a":`), "The arguments are no JSON: "},
		"too deep":          {stage.ToolCall("1", "add", strings.Repeat("[", 9_998)+strings.Repeat("]", 9_998)), "The arguments are no JSON: "},
		"too long":          {stage.ToolCall("1", "add", `{"a":"`+strings.Repeat("x", 300_000)+`"}`), "The arguments are no JSON: "},
		"wrong arguments":   {stage.ToolCall("1", "add", `{"a":"one"}`), "the arguments are wrong"},
		"no object":         {stage.ToolCall("1", "add", `[1]`), "the arguments are wrong"},
		"no arguments":      {stage.ToolCall("1", "add", ``), "the arguments are wrong"},
		"the tool fails":    {stage.ToolCall("1", "add", `{"a":-1,"b":0}`), "no negative numbers here"},
		"a key given twice": {stage.ToolCall("1", "add", `{"a":1,"a":2,"b":3}`), "The arguments are no JSON: "},
	} {
		t.Run(name, func(t *testing.T) {
			for _, readOnly := range []bool{false, true} {
				count := &stage.Tally{}
				engine := stage.WorkshopEngine(stage.ToolAsker([]provider.ToolCall{c.call}), 10, map[string]debate.Tool{"add": count.Tool(t, readOnly)})
				record := stage.Run(t, engine, stage.InFlow(engine, stage.ToolUsers()))
				require.Len(t, record.Turns, 2)
				assert.Contains(t, record.Turns[0].Text, c.want)
			}
		})
	}
}

func TestToolsAreUsedNoMoreThanAllowed(t *testing.T) {
	one := []provider.ToolCall{stage.ToolCall("1", "add", `{"a":1,"b":2}`)}
	two := []provider.ToolCall{one[0], stage.ToolCall("2", "add", `{"a":3,"b":4}`)}
	c := &stage.Tally{}
	engine := stage.WorkshopEngine(stage.ToolAsker(one, two), 2, map[string]debate.Tool{"add": c.Tool(t, false)})
	record := stage.Run(t, engine, stage.InFlow(engine, stage.ToolUsers()))
	assert.Len(t, c.Times, 4, "two each")
	assert.Contains(t, record.Turns[0].Text, "No tool may be used any more: 2 uses are allowed.")

	forever := &scripted.Provider{Record: true, Reply: func(*provider.Request) scripted.Reply { return scripted.Reply{Calls: one} }}
	synctest.Test(t, func(t *testing.T) {
		engine = stage.WorkshopEngine(forever, 2, map[string]debate.Tool{"add": c.Tool(t, false)})
		record = stage.Run(t, engine, stage.InFlow(engine, stage.ToolUsers()))
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
		many[i] = stage.ToolCall(fmt.Sprint(i), "add", `{"a":1,"b":1}`)
	}
	for name, calls := range map[string][]provider.ToolCall{
		"many":           many,
		"long names":     {stage.ToolCall(strings.Repeat("i", 1<<20), strings.Repeat("n", 1<<20), `{}`)},
		"no UTF-8":       {stage.ToolCall("\xff", "\xfe", "\"\xff\"")},
		"broken sealing": {{ID: "1", Name: "add", Arguments: json.RawMessage(`{"a":1,"b":1}`), Opaque: json.RawMessage(`{`)}},
		"deep sealing":   {{ID: "1", Name: "add", Opaque: json.RawMessage(strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999))}},
		"no id":          {stage.ToolCall("", "add", `{"a":1,"b":1}`), stage.ToolCall("", "add", `{"a":1,"b":1}`)},
	} {
		t.Run(name, func(t *testing.T) {
			c := &stage.Tally{}
			engine := stage.WorkshopEngine(stage.ToolAsker(calls), 5, map[string]debate.Tool{"add": c.Tool(t, false)})
			record := stage.Run(t, engine, stage.InFlow(engine, stage.ToolUsers()))
			require.Len(t, record.Turns, 2)
			assert.LessOrEqual(t, len(c.Times), 10)
			l := stage.LogOf(t, engine, record.ID)
			stage.CoreOf(t, engine, l.ID, l.Copied(t))
		})
	}
}

// Each state and round has its uses.
func TestUsesAreThoseOfAState(t *testing.T) {
	f := stage.Workshop(1)
	again := f.Steps["working"]
	f.Rules = []debate.Rule{
		{From: "working", On: "worked", To: "reworking"}, {From: "reworking", On: "worked", To: flow.StateCompleting},
	}
	f.Steps["reworking"] = flow.Step{Next: again.Next, Calls: func(r *debate.Record) []*flow.Call {
		var calls []*flow.Call
		for i, name := range r.Active() {
			if id := "rework." + name; !r.Done(id) {
				calls = append(calls, &flow.Call{
					ID: id, Kind: "work", By: name, Model: stage.ModelOf(r, name), Slot: 2 + i, View: flow.View{None: true},
					Last: func(*debate.Record) string { return "Once more." }, Tools: r.Settings().Tools, Uses: 1,
				})
			}
		}
		return calls
	}}
	c := &stage.Tally{}
	engine := stage.WorkshopEngine(stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", "add", `{"a":1,"b":2}`)}), 1, map[string]debate.Tool{"add": c.Tool(t, false)})
	engine.Flows = map[string]*debate.Flow{"workshop": f}
	record := stage.Run(t, engine, stage.InFlow(engine, stage.ToolUsers()))
	assert.Len(t, record.Turns, 4)
	assert.Len(t, c.Times, 4, "one use each in each of the two")
}

// described is a tool whose parameters are given as they are.
type described string

func (b described) Describe() flow.ToolInfo {
	return flow.ToolInfo{Parameters: json.RawMessage(b)}
}

func (b described) Use(context.Context, flow.ToolUse) (string, error) { return "", nil }

func TestToolsThatCannotBeOffered(t *testing.T) {
	good := (&stage.Tally{}).Tool(t, true)
	engine := stage.WorkshopEngine(stage.ToolAsker(), 5, map[string]debate.Tool{"add": good})
	config := stage.ToolUsers()
	config.Tools = []string{"add", "sing", "add"}
	err := engine.Validate(t.Context(), stage.InFlow(engine, config))
	require.ErrorContains(t, err, `tools[1]: no tool "sing" is registered`)
	require.ErrorContains(t, err, "tools[2]")
	for _, parameters := range []string{``, `null`, `[]`, `{"type":"string"}`, `{}`} {
		engine := &debate.Engine{Tools: map[string]debate.Tool{"raw": described(parameters)}}
		_, err := engine.New(debate.Config{})
		stage.RequireKind(t, err, provider.KindValidation)
	}
	config = stage.ToolUsers()
	config.Participants[1].Name = "Ada.tool.1"
	require.ErrorContains(t, engine.Validate(t.Context(), stage.InFlow(engine, config)), "participants[1].name")
	for name, tool := range map[string]debate.Tool{"": good, "two words": good, strings.Repeat("x", 65): good, "nothing": nil} {
		engine := &debate.Engine{Tools: map[string]debate.Tool{name: tool}}
		_, err := engine.New(debate.Config{})
		stage.RequireKind(t, err, provider.KindValidation)
	}
	_, err = flow.NewTool[stage.Sum](flow.ToolInfo{Description: "no function"}, nil)
	stage.RequireKind(t, err, provider.KindValidation)
}

// TestAToolThatNoVendorTakesIsLeftOut: the conversation begins without it, and says which one it is, and why.
func TestAToolThatNoVendorTakesIsLeftOut(t *testing.T) {
	const named = `{"type":"object","properties":{"$filter":{"type":"string"}},"required":["$filter"]}`
	p := stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", "named", `{}`)})
	engine := stage.WorkshopEngine(p, 5, map[string]debate.Tool{
		"add": (&stage.Tally{}).Tool(t, true), "named": described(named), "said": leftOut{described(`{"type":"object"}`)}, "bare": described(`{"type":"object"}`),
	})
	config := stage.ToolUsers()
	config.Tools = []string{"add", "named", "said", "bare"}
	record := stage.Run(t, engine, stage.InFlow(engine, config))
	require.Len(t, record.Turns, 2)
	assert.Contains(t, record.Turns[0].Text, "There is no tool of this name.")
	require.Len(t, record.Warnings, 2)
	for i, want := range []string{
		`the tool named is not offered to models: it requires the argument "$filter", and vendors take only names of`,
		"the tool said is not offered to models: its server says so",
	} {
		assert.Equal(t, flow.WarnTool, record.Warnings[i].Kind)
		assert.Contains(t, record.Warnings[i].Evidence, want)
	}
	for _, req := range p.Requests() {
		require.Len(t, req.Tools, 2)
		assert.Equal(t, "add", req.Tools[0].Name)
		assert.Equal(t, "bare", req.Tools[1].Name)
		assert.JSONEq(t, `{"type":"object","properties":{}}`, string(req.Tools[1].Parameters), "what is sent is what budgets count")
	}
}

// leftOut is a tool that says itself that it cannot be offered.
type leftOut struct{ debate.Tool }

func (l leftOut) Describe() flow.ToolInfo {
	info := l.Tool.Describe()
	info.LeftOut = "its server says so"
	return info
}

// TestNoArguments: for a tool without arguments, models write an empty object, nothing, or null.
func TestNoArguments(t *testing.T) {
	for _, arguments := range []string{`{}`, ``, `null`, " null\n"} {
		now, err := flow.NewTool(flow.ToolInfo{Description: "tells the time", ReadOnly: true}, func(context.Context, flow.ToolUse, struct{}) (string, error) {
			return "It is noon.", nil
		})
		require.NoError(t, err)
		engine := stage.WorkshopEngine(stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", "add", arguments)}), 5, map[string]debate.Tool{"add": now})
		record := stage.Run(t, engine, stage.InFlow(engine, stage.ToolUsers()))
		require.Len(t, record.Turns, 2)
		assert.Contains(t, record.Turns[0].Text, "It is noon.", "%q", arguments)
	}
}

// A tool may hold a debate of its own on the engine that asks it, however few calls that makes at once.
func TestAToolMayHoldADebate(t *testing.T) {
	p := stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", "add", `{}`)})
	tools := make(map[string]debate.Tool)
	engine := stage.WorkshopEngine(p, 5, tools)
	engine.MaxCalls = 1
	inner, err := flow.NewTool(flow.ToolInfo{Description: "asks others"}, func(ctx context.Context, _ flow.ToolUse, _ struct{}) (string, error) {
		config := stage.ToolUsers()
		config.Tools = nil
		session, err := engine.Start(ctx, stage.InFlow(engine, config))
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
	record := stage.Run(t, engine, stage.InFlow(engine, stage.ToolUsers()))
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
	engine := stage.WorkshopEngine(stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", "add", `{}`)}), 5, map[string]debate.Tool{"add": look})
	record := stage.Run(t, engine, stage.InFlow(engine, stage.ToolUsers()))
	assert.Len(t, seen, 2)
	assert.Contains(t, record.Turns[0].Text, record.Turns[0].Speaker)
}
