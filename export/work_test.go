package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/export"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// errand is arbitrated work about a small function.
func errand() arbiter.Config {
	return arbiter.Config{
		ID: "errand", Task: "Write a function that doubles.\n\nIt is in *Go*.", TurnTimeout: time.Minute,
		Arbiter: arbiter.Arbiter{Model: "acme/large", Fallbacks: []string{"acme/small"}, Prompt: "Be strict."},
		Agents: []arbiter.Agent{
			{
				Name: "Ada", Description: "plans", Prompt: "You are Ada.", Model: "acme/large", Fallbacks: []string{"acme/small"},
				Tools: []string{"publish"}, Metadata: map[string]string{"team": "blue"},
			},
			{Name: "Ben", Description: "writes", Model: "acme/small", Tools: []string{"write", "test"}, MaxIterations: 3},
		},
	}
}

// uses is a reply that asks for a tool.
func uses(tool string, arguments any) scripted.Reply {
	r := says(toJSON(map[string]any{tool: arguments}))
	r.Text, r.Calls = "", []provider.ToolCall{{ID: "1", Name: tool, Arguments: json.RawMessage(toJSON(arguments))}}
	return r
}

func reports(success bool, output string, steps ...arbiter.StepUpdate) scripted.Reply {
	result := arbiter.Result{Success: success, Output: output}
	if len(steps) > 0 {
		result.PlanUpdates = &arbiter.PlanUpdate{Steps: steps}
	}
	return says(toJSON(result))
}

// errandReply is what everybody says in an errand; any free text says words. Each execution gives one reply after the other.
func errandReply(words string) func(*provider.Request) scripted.Reply {
	picks := func(name, reason string) arbiter.Ruling {
		return arbiter.Ruling{Move: arbiter.MoveSelect, Agents: []string{name}, Reason: reason + words}
	}
	rulings := []arbiter.Ruling{
		picks("Ada", "Somebody has to **plan**. "), picks("Ben", "The plan names him. "), picks("Ben", "He has not written yet. "),
		{Move: arbiter.MoveRetry, Agents: []string{}, Reason: "It is nearly right. " + words},
		{Move: arbiter.MoveComplete, Agents: []string{}, Reason: "The test passes. " + words, Summary: "# Done\n\nThe function doubles. " + words},
	}
	replies := map[string][]scripted.Reply{
		"r1.Ada": {reports(true, "I have planned. "+words,
			arbiter.StepUpdate{Index: 0, Description: "think " + words}, arbiter.StepUpdate{Index: 1, Description: "write | test", Agent: "Ben"},
			arbiter.StepUpdate{Index: 2, Description: "publish", Agent: "Ada"}, arbiter.StepUpdate{Index: 3, Description: "announce"})},
		"r2.Ben": {
			uses("write", map[string]string{"text": "func double(n int) int {\n\treturn n + n\n}\n" + words}),
			uses("test", map[string]string{"text": "double " + words}), reports(false, "The test fails. "+words),
		},
		"r3.Ada": {uses("publish", map[string]string{"text": words}), uses("erase"+words, map[string]string{"text": words}), reports(true, "It may be published. "+words)},
		"r4.Ben": {{Err: &provider.Error{Kind: provider.KindRefusal, Message: "I will not. " + words}}},
		"r5.Ben": {uses("write", map[string]string{"text": strings.Repeat("long ", 1000) + words}), uses("write", map[string]string{}), reports(true, "Done. "+words)},
	}
	return func(req *provider.Request) scripted.Reply {
		if req.Schema == nil {
			return says("a text")
		}
		if req.Schema.Name != "result" {
			next := rulings[0]
			rulings = rulings[1:]
			return says(toJSON(next))
		}
		_, rest, _ := strings.Cut(req.ID, "/")
		call, _, _ := strings.Cut(rest, "/")
		n, own := 0, false
		for i := range req.Messages {
			if m := &req.Messages[i]; m.ToolResult == nil {
				own = own || strings.Contains(m.Text, "Do your assignment now") // what comes before was used in earlier executions
			} else if own {
				n++
			}
		}
		return replies[call][n]
	}
}

type subject struct {
	Text string `json:"text"`
}

// errandTools write, test and publish. What they answer says words.
func errandTools(t *testing.T, words string, begun func()) map[string]debate.Tool {
	t.Helper()
	made := func(info flow.ToolInfo, use func(ctx context.Context, args subject) (string, error)) debate.Tool {
		tool, err := flow.NewTool(info, func(ctx context.Context, _ flow.ToolUse, args subject) (string, error) { return use(ctx, args) })
		require.NoError(t, err)
		return tool
	}
	return map[string]debate.Tool{
		"write": made(flow.ToolInfo{Description: "writes"}, func(_ context.Context, args subject) (string, error) {
			return "wrote:\n\n```\n" + args.Text + "\n```\n" + words, nil
		}),
		"test": made(flow.ToolInfo{Description: "tests", Approval: true}, func(context.Context, subject) (string, error) {
			return "", errors.New("--- FAIL: TestDouble " + words)
		}),
		"publish": made(flow.ToolInfo{Description: "publishes"}, func(ctx context.Context, _ subject) (string, error) {
			begun()
			<-ctx.Done()
			return "", ctx.Err()
		}),
	}
}

// work runs an errand. While a person is asked about the first use, the host forces Ada, skips a step, and has one run again.
func work(t *testing.T, words string) *export.Document {
	t.Helper()
	d := &export.Document{}
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan struct{})
		engine := &debate.Engine{
			Providers: map[string]debate.Provider{"acme": &scripted.Provider{Reply: errandReply(words)}}, Tools: errandTools(t, words, func() { close(begun) }),
			Flows: map[string]*flow.Flow{arbiter.FlowName: arbiter.Flow()}, Seed: func() string { return seed },
			Models: map[string]flow.Model{
				"acme/large": {Priced: true, Input: 3 * flow.USD / 1_000_000, Output: 15 * flow.USD / 1_000_000},
				"acme/small": {Priced: true, Input: flow.USD / 4_000_000, Output: 2 * flow.USD / 1_000_000},
			},
		}
		session, err := engine.Start(t.Context(), errand())
		require.NoError(t, err)
		go func() { // a pause breaks the use off
			<-begun
			_ = session.Pause(t.Context())
		}()
		sent := false
		for {
			d.Record, err = session.WaitIdle(t.Context())
			if errors.Is(err, flow.ErrPaused) {
				require.NoError(t, session.Resume(t.Context()))
				continue
			}
			if !errors.Is(err, flow.ErrAwaitingInput) {
				break
			}
			for _, in := range []flow.Sent{
				{Trigger: arbiter.TriggerSkipStep, Payload: json.RawMessage(`{"step":3}`), Reason: "nobody announces on a Friday"},
				{Trigger: arbiter.TriggerRerunStep, Payload: json.RawMessage(`{"step":0}`), Reason: "it was too hasty"},
				{Trigger: arbiter.TriggerForceAgent, Payload: json.RawMessage(`{"agent":"Ada"}`), Reason: "she knows it"},
			} {
				if !sent {
					require.NoError(t, session.Control(t.Context(), in))
				}
			}
			sent = true
			for _, q := range d.Record.Inquiries {
				option := flow.OptionSkip // about a call that has failed
				switch {
				case q.Use != nil && q.Use.Attempt > 0:
					option = flow.OptionTell
				case q.Use != nil:
					option = flow.OptionApprove
				}
				require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: option}), q.Question)
			}
		}
		require.NoError(t, err)
		for event, err := range engine.Events(t.Context(), session.ID(), 0) {
			require.NoError(t, err)
			d.Tell(event)
		}
		require.NoError(t, engine.Shutdown(t.Context()))
	})
	return d
}

// TestWorkIsShownAsWhatItIs: its task, plan, executions with their uses of tools, decisions and inputs as text, and nothing of a
// debate's.
func TestWorkIsShownAsWhatItIs(t *testing.T) {
	d := work(t, "")
	var md, page bytes.Buffer
	require.NoError(t, d.Markdown(&md))
	require.NoError(t, d.HTML(&page))
	golden(t, "work.md", md.Bytes())
	golden(t, "work.html", page.Bytes())
	for _, text := range []string{md.String(), page.String()} {
		for _, not := range []string{"erdict", "inner", "debate", "Participants", "Turns", "Rounds", "You are Ada", "Be strict", seed} {
			assert.NotContains(t, text, not)
		}
		for _, want := range []string{"Nobody knows whether it took effect.", "at its limit of replies", "nobody announces on a Friday", "The host has forced this agent: she knows it."} {
			assert.Contains(t, text, want)
		}
	}
	_, err := structures(d)
	require.NoError(t, err)
}

// said returns an errand in which everybody has written a text, the host program included.
func said(t *testing.T, text string) *export.Document {
	t.Helper()
	d := work(t, strings.ToValidUTF8(text[:min(len(text), 1500)], ""))
	played, ok := arbiter.Of(d.Record)
	require.True(t, ok)
	c := played.Config()
	c.Task, c.Arbiter.Model, c.Arbiter.Fallbacks = text, text, []string{text}
	for i := range c.Agents {
		a := &c.Agents[i]
		a.Description, a.Model, a.Fallbacks, a.Tools = text, text, []string{text}, []string{text, text}
	}
	for i := range d.Record.Inputs {
		in := &d.Record.Inputs[i]
		in.Reason, in.State, in.Payload = text, flow.State(text), json.RawMessage(text)
	}
	d.Record.Warnings = []flow.Warning{{Kind: flow.WarnLeftOut, By: text, Evidence: text}}
	for _, decision := range played.Decisions() {
		decision.Reason, decision.Summary, decision.Model, decision.State = text, text, text, flow.State(text)
	}
	return d
}

// TestAttacksOnWork: hostile texts of agents, tools, the arbiter and the host change nothing in the structure of the documents.
func TestAttacksOnWork(t *testing.T) {
	t.Parallel()
	want, err := structures(said(t, "harmless"))
	require.NoError(t, err)
	for i, name := range slices.Sorted(maps.Keys(attacks())) {
		if i%every != 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			got, err := structures(said(t, attacks()[name]))
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
}
