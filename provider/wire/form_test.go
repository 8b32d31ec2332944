package wire_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// conversed shows a request: who speaks, what is called with which id, and what it has given.
func conversed(req *provider.Request) []string {
	var lines []string
	if req.System != "" {
		lines = append(lines, "system: "+req.System)
	}
	for i := range req.Messages {
		m := &req.Messages[i]
		line := "user"
		switch {
		case m.ToolResult != nil:
			line = "result " + m.ToolResult.ID + ": " + m.ToolResult.Text
			if m.ToolResult.Error {
				line += " (failed)"
			}
		case m.Speaker == "Ada":
			line = "own"
			if m.Text != "" {
				line += ": " + m.Text
			}
		default:
			line += ": " + m.Enclosed()
		}
		for _, c := range m.ToolCalls {
			line += fmt.Sprintf(" %s=%s%s", c.ID, c.Name, c.Arguments)
		}
		for range m.Parts {
			line += " file"
		}
		lines = append(lines, line)
	}
	if req.Last.Text != "" || len(req.Last.Parts) > 0 {
		lines = append(lines, "last: "+req.Last.Enclosed())
	}
	return lines
}

func call(id, name, arguments string) provider.ToolCall {
	return provider.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(arguments)}
}

func calling(calls ...provider.ToolCall) provider.Message {
	return provider.Message{Speaker: "Ada", ToolCalls: calls}
}

func gave(id, text string) provider.Message {
	return provider.Message{Speaker: "Ada", ToolResult: &provider.ToolResult{ID: id, Text: text}}
}

func TestForms(t *testing.T) {
	a, b := call("a", "look", `{}`), call("b", "look", `{}`)
	topic, ask := provider.Message{Text: "Topic."}, provider.Message{Text: "Go."}
	long := strings.Repeat("x", 100)
	for name, c := range map[string]struct {
		form     wire.Form
		messages []provider.Message
		want     []string
	}{
		"results stand behind their calls": {
			wire.Form{},
			[]provider.Message{topic, calling(a, b), gave("b", "two"), {Speaker: "Ben", Text: "Hm."}, gave("a", "one")},
			[]string{"user: Topic.", "own a=look{} b=look{}", "result a: one", "result b: two\n\nBen: Hm.\n\nGo."},
		},
		"a result is missing": {
			wire.Form{},
			[]provider.Message{topic, calling(a, b), gave("b", "two")},
			[]string{"user: Topic.", "own a=look{} b=look{}", "result a: The tool gave no result.", "result b: two\n\nGo."},
		},
		"a missing result is a failure where an API says so": {
			wire.Form{Beside: true},
			[]provider.Message{topic, calling(a)},
			[]string{"user: Topic.", "own a=look{}", "result a: The tool gave no result. (failed)", "last: Go."},
		},
		"others' calls": {
			wire.Form{},
			[]provider.Message{{Speaker: "Ben", Text: "I look.", ToolCalls: []provider.ToolCall{a}}, {Speaker: "Ben", ToolResult: &provider.ToolResult{ID: "a", Text: "hidden"}}, calling(a)},
			[]string{"user: Ben: I look.", "own a=look{}", "result a: The tool gave no result.\n\nGo."},
		},
		"ids": {
			wire.Form{},
			[]provider.Message{topic, calling(call("a/b", "look", ""), call("a.b", "look", "")), gave("a.b", "two"), gave("a/b", "one"), calling(call(long, "look", "")), gave(long, "x"), calling(a), calling(a), calling(call("", "look", ""))},
			[]string{
				"user: Topic.", "own a_b=look{} a_b_2=look{}", "result a_b: one", "result a_b_2: two", "own " + long[:40] + "=look{}", "result " + long[:40] + ": x",
				"own a=look{}", "result a: The tool gave no result.", "own a_2=look{}", "result a_2: The tool gave no result.",
				"own call=look{}", "result call: The tool gave no result.\n\nGo.",
			},
		},
		"ids of a vendor": {
			wire.Form{ID: wire.PlainID(12, ".:"), Beside: true},
			[]provider.Message{topic, calling(call("functions.look:0", "look", "")), calling(call("functions.look:1", "look", ""))},
			[]string{
				"user: Topic.", "own functions.lo=look{}", "result functions.lo: The tool gave no result. (failed)",
				"own functions._2=look{}", "result functions._2: The tool gave no result. (failed)", "last: Go.",
			},
		},
		"names and arguments": {
			wire.Form{Beside: true},
			[]provider.Message{topic, calling(
				call("1", "forest.leaves", `[]`), call("2", `read" path="oak`, `null`), call("3", "7z", `"oak"`), call("4", "", `{"cut`),
				call("5", long, ` {"n":1e400,"n":1} `), call("6", "-", `{"a":"\u0000\u001b\b\ud83d\ude00\ud83d x\n\\u0000"}`),
			)},
			[]string{
				"user: Topic.", `own 1=forest_leaves{} 2=read__path__oak{} 3=_7z{} 4=_{} 5=` + long[:64] + `{"n":1e400,"n":1} 6=_-{"a":"\ud83d\ude00\ufffd x\n\\u0000"}`,
				"result 1: The tool gave no result. (failed)", "result 2: The tool gave no result. (failed)", "result 3: The tool gave no result. (failed)",
				"result 4: The tool gave no result. (failed)", "result 5: The tool gave no result. (failed)", "result 6: The tool gave no result. (failed)", "last: Go.",
			},
		},
		"blank texts": {
			wire.Form{},
			[]provider.Message{topic, {Text: " "}, {Speaker: "Ben", Fence: "f", Text: "\n"}, {Speaker: "Ada", Text: "\n\n", ToolCalls: []provider.ToolCall{a}}, gave("a", "\t"), {Speaker: "Ada", Text: "\x00"}},
			[]string{"user: Topic.", "own a=look{}", "result a: (empty)\n\nGo."},
		},
		"control characters": {
			wire.Form{},
			[]provider.Message{
				{Text: "a\x00b\tc\r\n\x1b[31m\x7f\xff\u0080\u009bé"}, calling(call("1", "look", "{\"a\":\"x\x7f\u009by\\u0085\\u0099\\u00e9é\"}")),
			},
			[]string{"user: ab\tc\r\n[31m\ufffdé", `own 1=look{"a":"xy\u00e9é"}`, "result 1: The tool gave no result.\n\nGo."},
		},
		"files behind results": {
			wire.Form{},
			[]provider.Message{topic, calling(a), gave("a", "one"), calling(b), gave("b", "two"), {Text: "See.", Parts: []provider.Part{{Data: []byte("x")}}}},
			[]string{"user: Topic.", "user: See. file", "own a=look{}", "result a: one", "own b=look{}", "result b: two\n\nGo."},
		},
		"what is enclosed stays so": {
			wire.Form{},
			[]provider.Message{topic, calling(a), gave("a", "one"), {Speaker: "Ben", Fence: "f", Text: "No."}, {Speaker: "Ada", Text: "Yes."}, {Speaker: "Ben", Text: "Why?"}},
			[]string{"user: Topic.", "own a=look{}", "result a: one\n\n<<<f Ben>>>\nNo.\n<<<end f>>>", "own: Yes.", "user: Ben: Why?", "last: Go."},
		},
		"own words first": {
			wire.Form{},
			[]provider.Message{{Speaker: "Ada", Text: "Yes."}},
			[]string{"user: (The conversation begins with your own words.)", "own: Yes.", "last: Go."},
		},
		"own calls first": {
			wire.Form{Beside: true},
			[]provider.Message{calling(a), gave("a", "one")},
			[]string{"user: (The conversation begins with your own words.)", "own a=look{}", "result a: one", "last: Go."},
		},
		"names of tools that are offered": {
			wire.Form{},
			[]provider.Message{topic, calling(call("1", "look up", ""), call("2", "look_up", ""), call("3", "look?up", ""))},
			[]string{
				"user: Topic.", "own 1=look_up_3{} 2=look_up{} 3=look_up_3{}", "result 1: The tool gave no result.", "result 2: The tool gave no result.",
				"result 3: The tool gave no result.\n\nGo.",
			},
		},
		"no system role": {
			wire.Form{NoSystem: true},
			[]provider.Message{{Speaker: "Ben", Text: "No."}},
			[]string{"user: You are Ada.\n\nBen: No.", "last: Go."},
		},
		"no system role, and nothing before": {wire.Form{NoSystem: true}, nil, []string{"last: You are Ada.\n\nGo."}},
		"no system role, and own words first": {
			wire.Form{NoSystem: true},
			[]provider.Message{{Speaker: "Ada", Text: "Yes."}},
			[]string{"user: You are Ada.", "own: Yes.", "last: Go."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			req := &provider.Request{Self: "Ada", Messages: c.messages, Last: ask, Tools: []provider.Tool{{Name: "look_up"}, {Name: "look_up_2"}}}
			if c.form.NoSystem {
				req.System = "You are Ada."
			}
			got, err := c.form.Request(req)
			require.NoError(t, err)
			assert.Equal(t, c.want, conversed(got))
			again, err := c.form.Request(got)
			require.NoError(t, err)
			assert.Equal(t, c.want, conversed(again), "what is in its form stays so")
		})
	}
}

// TestFormsChangeNoRequest: requests that run at the same time share their messages.
func TestFormsChangeNoRequest(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	texts := []string{"", " ", "words", "a\x00b"}
	for range 300 {
		fresh := func() *provider.Request {
			return &provider.Request{Self: "Ada", System: "s\x00", Last: provider.Message{Text: "Go."}, Tools: []provider.Tool{{Name: "a.b", Parameters: json.RawMessage(`{"type":"object"}`)}}}
		}
		req, want := fresh(), fresh()
		for range random.IntN(9) {
			m := provider.Message{Speaker: []string{"", "Ada", "Ben"}[random.IntN(3)], Text: texts[random.IntN(4)]}
			n := m
			switch random.IntN(3) {
			case 0:
				m.ToolCalls, n.ToolCalls = []provider.ToolCall{call("a.1", "a.b", `[]`)}, []provider.ToolCall{call("a.1", "a.b", `[]`)}
			case 1:
				m.ToolResult, n.ToolResult = &provider.ToolResult{ID: "a.1", Text: "\x00"}, &provider.ToolResult{ID: "a.1", Text: "\x00"}
			}
			req.Messages, want.Messages = append(req.Messages, m), append(want.Messages, n)
		}
		for _, form := range []wire.Form{{}, {Beside: true}, {NoSystem: true}} {
			out, err := form.Request(req)
			require.NoError(t, err)
			require.True(t, reflect.DeepEqual(want, req))
			owed := 0
			for i := range out.Messages {
				m := &out.Messages[i]
				switch {
				case m.ToolResult != nil:
					owed--
					require.NotEmpty(t, strings.TrimSpace(m.ToolResult.Text))
				default:
					require.Zero(t, owed, "each call has its result, before anything else")
					require.True(t, form.Beside || i == 0 || out.Messages[i-1].ToolResult == nil || m.Speaker == "Ada", "no user follows a result")
					require.True(t, m.Text != "" || len(m.ToolCalls) > 0)
				}
				owed += len(m.ToolCalls)
			}
			require.Zero(t, owed)
			require.True(t, form.Beside || len(out.Messages) == 0 || out.Messages[len(out.Messages)-1].ToolResult == nil || out.Last.Text == "")
		}
	}
}

// TestToolsInAForm: a schema that cannot be lowered is a failure before anything is sent.
func TestToolsInAForm(t *testing.T) {
	out, err := wire.Form{}.Request(&provider.Request{Tools: []provider.Tool{{Name: "7-up", Description: "a\x00b", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: "now"}}})
	require.NoError(t, err)
	assert.Equal(t, []provider.Tool{
		{Name: "7-up", Description: "ab", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)},
		{Name: "now", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)},
	}, out.Tools)
	_, err = wire.Form{}.Request(&provider.Request{Tools: []provider.Tool{{Name: "now", Parameters: json.RawMessage(`[]`)}}})
	e, ok := errors.AsType[*provider.Error](err)
	require.True(t, ok)
	assert.Equal(t, "tool", e.Code)
	assert.Equal(t, provider.KindValidation, e.Kind)
	assert.True(t, e.NotSent)
	assert.Contains(t, e.Message, "the tool now cannot be offered: its parameters are no JSON schema of an object")
}
