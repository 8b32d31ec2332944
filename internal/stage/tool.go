package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Sum is what the tool of a Tally is given.
type Sum struct {
	A int `json:"a"`
	B int `json:"b"`
}

// Tally makes a tool that counts how often each use was made.
type Tally struct {
	mu    sync.Mutex
	Times map[string]int
}

// Tool makes the tool.
func (c *Tally) Tool(t testing.TB, readOnly bool) debate.Tool {
	t.Helper()
	return c.Of(t, flow.ToolInfo{ReadOnly: readOnly})
}

// Of is tool with a description of its own.
func (c *Tally) Of(t testing.TB, info flow.ToolInfo) debate.Tool {
	t.Helper()
	tool, err := c.newTool(info)
	require.NoError(t, err)
	return tool
}

// MustTool is tool where no test is at hand: the arguments are known to be a schema.
func (c *Tally) MustTool() debate.Tool {
	tool, _ := c.newTool(flow.ToolInfo{ReadOnly: true})
	return tool
}

func (c *Tally) newTool(info flow.ToolInfo) (debate.Tool, error) {
	info.Description = "adds two numbers"
	return flow.NewTool(info, func(_ context.Context, use flow.ToolUse, args Sum) (string, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.Times == nil {
			c.Times = make(map[string]int)
		}
		c.Times[use.Call]++
		if args.A < 0 {
			return "", errors.New("no negative numbers here")
		}
		return fmt.Sprint(args.A + args.B), nil
	})
}

// OneSum asks for one use of the tool, as often as it is given.
func OneSum(times int) [][]provider.ToolCall {
	var asks [][]provider.ToolCall
	for range times {
		asks = append(asks, []provider.ToolCall{ToolCall("1", "add", `{"a":1,"b":2}`)})
	}
	return asks
}

// AdaAlone lets nobody but Ada ask for tools.
func AdaAlone(p *scripted.Provider) *scripted.Provider {
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		if req.Self != "Ada" {
			return scripted.Reply{Text: "I need no tool."}
		}
		return reply(req)
	}
	return p
}

// Workshop is a flow in which everybody works on something with tools, all at once.
func Workshop(uses int) *debate.Flow {
	return ofDebates(&debate.Flow{
		Name: "workshop", Version: 1, Start: "working",
		Rules: []debate.Rule{{From: "working", On: "worked", To: flow.StateCompleting}},
		Steps: map[debate.State]flow.Step{"working": {
			Calls: func(r *debate.Record) []*flow.Call {
				var calls []*flow.Call
				for i, name := range r.Active() {
					if id := "work." + name; !r.Done(id) && !r.Failed(id) {
						calls = append(calls, &flow.Call{
							ID: id, Kind: "work", By: name, Model: ModelOf(r, name), Slot: i, View: flow.View{None: true}, System: "You work.",
							Last: func(*debate.Record) string { return "Compute, " + name + "." }, Tools: r.Settings().Tools, Uses: uses,
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

// ToolCall is a model's wish to use a tool.
func ToolCall(id, name, args string) provider.ToolCall {
	return provider.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)}
}

// ToolAsker asks for tools, then says what they have answered.
func ToolAsker(asks ...[]provider.ToolCall) *scripted.Provider {
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

// ToolUsers is a config of two who may use the tool.
func ToolUsers() debate.Config {
	return debate.Config{
		Topic: "Sums", Tools: []string{"add"},
		Participants: []debate.Participant{{Name: "Ada", Model: "test/debater"}, {Name: "Ben", Model: "test/debater"}},
	}
}

// WorkshopEngine is an engine of a workshop.
func WorkshopEngine(p provider.Provider, uses int, tools map[string]debate.Tool) *debate.Engine {
	return &debate.Engine{
		Providers: map[string]debate.Provider{"test": p}, Tools: tools, Flows: map[string]*debate.Flow{"workshop": Workshop(uses)},
		Logger: slog.New(slog.DiscardHandler),
	}
}
