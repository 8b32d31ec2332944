package openai_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
)

// items shows what is sent of a conversation: calls and results by id, and texts.
func items(t *testing.T, req *provider.Request) []string {
	t.Helper()
	var list []string
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Input []struct {
				Type, Role, Content, Output string
				ID                          string `json:"call_id"`
			}
		}
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&body))
		for _, item := range body.Input {
			switch item.Type {
			case "function_call":
				list = append(list, "call "+item.ID)
			case "function_call_output":
				list = append(list, item.ID+": "+item.Output)
			default:
				list = append(list, item.Role+": "+item.Content)
			}
		}
		say(w)
	})
	_, err := ask(t, p, req)
	require.NoError(t, err)
	return list
}

func called(ids ...string) []provider.ToolCall {
	list := make([]provider.ToolCall, len(ids))
	for i, id := range ids {
		list[i] = provider.ToolCall{ID: id, Name: "f"}
	}
	return list
}

func gives(id, text string) provider.Message {
	return provider.Message{Speaker: "Ada", ToolResult: &provider.ToolResult{ID: id, Text: text}}
}

// OpenAI refuses a call without its result, and a result without its call.
func TestResultsFollowTheirCalls(t *testing.T) {
	for name, tt := range map[string]struct {
		messages []provider.Message
		want     []string
	}{
		"somebody between": {
			[]provider.Message{{Speaker: "Ada", ToolCalls: called("c1")}, {Speaker: "Ben", Text: "Meanwhile."}, gives("c1", "one")},
			[]string{"call c1", "c1: one\n\nBen: Meanwhile.\n\nGo."},
		},
		"another order": {
			[]provider.Message{{Speaker: "Ada", Text: "See.", ToolCalls: called("c1", "c2")}, gives("c2", "two"), gives("c1", "one")},
			[]string{"assistant: See.", "call c1", "call c2", "c1: one", "c2: two\n\nGo."},
		},
		"one is missing": {
			[]provider.Message{{Speaker: "Ada", ToolCalls: called("c1", "c2")}, gives("c2", "two")},
			[]string{"call c1", "call c2", "c1: The tool gave no result.", "c2: two\n\nGo."},
		},
		"one too late": {
			[]provider.Message{{Speaker: "Ada", ToolCalls: called("c1")}, {Speaker: "Ada", ToolCalls: called("c2")}, gives("c1", "one"), gives("c2", "two")},
			[]string{"call c1", "c1: The tool gave no result.", "call c2", "c2: two\n\nGo."},
		},
		"one without a call": {
			[]provider.Message{gives("c0", "none"), {Speaker: "Ada", ToolCalls: called("c1")}, gives("c1", "one"), gives("c1", "again"), gives("c9", "no")},
			[]string{"call c1", "c1: one\n\nGo."},
		},
		"another's": {
			[]provider.Message{{Speaker: "Ben", ToolCalls: called("c1")}, {Speaker: "Ben", ToolResult: &provider.ToolResult{ID: "c1", Text: "hidden"}}},
			[]string{"user: Go."},
		},
		"the same id again": {
			[]provider.Message{{Speaker: "Ada", ToolCalls: called("c")}, gives("c", "one"), {Speaker: "Ada", ToolCalls: called("c")}, gives("c", "two")},
			[]string{"call c", "c: one", "call c_2", "c_2: two\n\nGo."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := items(t, &provider.Request{Model: "m", Self: "Ada", Messages: append([]provider.Message{{Text: "Topic."}}, tt.messages...), Last: provider.Message{Text: "Go."}})
			assert.Equal(t, append([]string{"user: Topic."}, tt.want...), got)
		})
	}
}

// Whatever the history, each call has one result, in order and before anything else is said.
func TestEveryHistoryCanBeSent(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	for range 150 {
		req := &provider.Request{Model: "m", Self: "Ada", Last: provider.Message{Text: "The task."}}
		req.Messages = append(req.Messages, provider.Message{Text: "Topic."})
		texts := 1
		for range random.IntN(8) {
			m := provider.Message{Speaker: []string{"", "Ada", "Ben"}[random.IntN(3)]}
			switch random.IntN(3) {
			case 0:
				m.ToolCalls = called([]string{"a", "b", "c"}[:1+random.IntN(3)]...)
			case 1:
				m.ToolResult = &provider.ToolResult{ID: []string{"a", "b", "c", ""}[random.IntN(4)], Text: "r"}
			}
			if m.ToolResult == nil && random.IntN(4) > 0 {
				m.Text = "words"
				texts++
			}
			req.Messages = append(req.Messages, m)
		}
		got := items(t, req)
		var owed []string
		for _, item := range got {
			var id string
			switch {
			case len(item) > 5 && item[:5] == "call ":
				owed = append(owed, item[5:])
			case len(owed) > 0:
				id, owed = owed[0], owed[1:]
				require.Regexp(t, "^"+id+": (r|The tool gave no result\\.)(\n\n.*)*$", item, fmt.Sprint(got))
				texts -= strings.Count(item, "\n\n") // what a user says after results is a part of the last
			default:
				require.Regexp(t, "^(user|assistant): ", item, fmt.Sprint(got))
				texts--
			}
		}
		require.Empty(t, owed)
		// The words beside calls stand before the first of them, and the task at the end.
		require.Equal(t, -1, texts, fmt.Sprint(got))
		require.True(t, strings.HasSuffix(got[len(got)-1], "The task."), fmt.Sprint(got))
	}
}
