package openaicompat_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

type sentMessage struct {
	Role       string
	Content    *string
	ToolCallID string `json:"tool_call_id"`
	ToolCalls  []struct{ ID string }
}

// conversed returns the messages that a provider sends.
func conversed(t *testing.T, p *openaicompat.Provider, req *provider.Request) []sentMessage {
	t.Helper()
	var body struct {
		Messages []struct {
			sentMessage

			ToolCalls []struct{ ID string } `json:"tool_calls"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(asked(t, p, req)), &body))
	list := make([]sentMessage, len(body.Messages))
	for i, m := range body.Messages {
		m.sentMessage.ToolCalls = m.ToolCalls
		list[i] = m.sentMessage
	}
	return list
}

// brief shows a conversation: roles, calls and results by id, and texts.
func brief(list []sentMessage) []string {
	lines := make([]string, 0, len(list))
	for _, m := range list {
		line := m.Role
		for _, c := range m.ToolCalls {
			line += " " + c.ID
		}
		if m.ToolCallID != "" {
			line += " " + m.ToolCallID
		}
		if m.Content != nil {
			line += ": " + *m.Content
		}
		lines = append(lines, line)
	}
	return lines
}

func calls(ids ...string) []provider.ToolCall {
	list := make([]provider.ToolCall, len(ids))
	for i, id := range ids {
		list[i] = provider.ToolCall{ID: id, Name: "f"}
	}
	return list
}

func gives(id, text string) provider.Message {
	return provider.Message{Speaker: "Ada", ToolResult: &provider.ToolResult{ID: id, Text: text}}
}

// TestResultsFollowTheirCalls: OpenAI refuses a call without its result directly behind it, and a result
// without its call.
func TestResultsFollowTheirCalls(t *testing.T) {
	for name, tt := range map[string]struct {
		messages []provider.Message
		want     []string
	}{
		"somebody between": {
			[]provider.Message{{Speaker: "Ada", ToolCalls: calls("c1")}, {Speaker: "Ben", Text: "Meanwhile."}, gives("c1", "one")},
			[]string{"assistant c1", "tool c1: one\n\nBen: Meanwhile.\n\nGo."},
		},
		"another order": {
			[]provider.Message{{Speaker: "Ada", Text: "See.", ToolCalls: calls("c1", "c2")}, gives("c2", "two"), gives("c1", "one")},
			[]string{"assistant c1 c2: See.", "tool c1: one", "tool c2: two\n\nGo."},
		},
		"one is missing": {
			[]provider.Message{{Speaker: "Ada", ToolCalls: calls("c1", "c2")}, gives("c2", "two")},
			[]string{"assistant c1 c2", "tool c1: The tool gave no result.", "tool c2: two\n\nGo."},
		},
		"one too late": {
			[]provider.Message{{Speaker: "Ada", ToolCalls: calls("c1")}, {Speaker: "Ada", ToolCalls: calls("c2")}, gives("c1", "one"), gives("c2", "two")},
			[]string{"assistant c1", "tool c1: The tool gave no result.", "assistant c2", "tool c2: two\n\nGo."},
		},
		"one without a call": {
			[]provider.Message{gives("c0", "none"), {Speaker: "Ada", ToolCalls: calls("c1")}, gives("c1", "one"), gives("c1", "again"), gives("c9", "no")},
			[]string{"assistant c1", "tool c1: one\n\nGo."},
		},
		"another's": {
			[]provider.Message{{Speaker: "Ben", ToolCalls: calls("c1")}, {Speaker: "Ben", ToolResult: &provider.ToolResult{ID: "c1", Text: "hidden"}}},
			[]string{"user: Go."},
		},
		"the same id again": {
			[]provider.Message{{Speaker: "Ada", ToolCalls: calls("c")}, gives("c", "one"), {Speaker: "Ada", ToolCalls: calls("c")}, gives("c", "two")},
			[]string{"assistant c", "tool c: one", "assistant c_2", "tool c_2: two\n\nGo."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := brief(conversed(t, openaicompat.OpenAI("k"), &provider.Request{Model: "m", Self: "Ada", Messages: append([]provider.Message{{Text: "Topic."}}, tt.messages...), Last: provider.Message{Text: "Go."}}))
			assert.Equal(t, append([]string{"user: Topic."}, tt.want...), got)
		})
	}
}

// TestEveryHistoryCanBeSent: whatever the history, each preset sends one that its server takes, and loses no
// words.
func TestEveryHistoryCanBeSent(t *testing.T) {
	nine := regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)
	random := rand.New(rand.NewPCG(7, 11))
	for range 150 {
		req := &provider.Request{Model: "m", System: "s", Self: "Ada", Last: provider.Message{Text: "The task."}}
		for i := range random.IntN(8) {
			m := provider.Message{Speaker: []string{"", "Ada", "Ben"}[random.IntN(3)]}
			id := func() string { return []string{"abcDEF123", "call_0", "toolu_01", ""}[random.IntN(4)] }
			switch random.IntN(3) {
			case 0:
				m.ToolCalls = calls([]string{"abcDEF123", "call_0", "toolu_01"}[:1+random.IntN(3)]...)
			case 1:
				m.ToolResult = &provider.ToolResult{ID: id(), Text: "r"}
			}
			if m.ToolResult == nil && random.IntN(4) > 0 {
				m.Text = fmt.Sprintf("text %d.", i)
			}
			req.Messages = append(req.Messages, m)
		}
		for _, p := range []*openaicompat.Provider{openaicompat.OpenAI("k"), openaicompat.Mistral("k"), openaicompat.DeepSeek("k")} {
			list := conversed(t, p, req)
			all := strings.Join(brief(list), "\n")
			for i := range req.Messages {
				assert.LessOrEqual(t, 1, strings.Count(all, req.Messages[i].Text), all)
			}
			owed := []string{}
			for i, m := range list {
				if m.Role == "tool" {
					require.NotEmpty(t, owed, all)
					require.Equal(t, owed[0], m.ToolCallID, all)
					owed = owed[1:]
				} else {
					require.Empty(t, owed, all)
				}
				for _, c := range m.ToolCalls {
					owed = append(owed, c.ID)
					if p.ShortIDs {
						require.Regexp(t, nine, c.ID)
					}
				}
				if i == 0 {
					continue
				}
				before := list[i-1].Role
				require.False(t, before == "tool" && m.Role == "user", all)
				require.False(t, p.JoinRoles && before == m.Role && m.Role != "tool" && len(list[i-1].ToolCalls) == 0, all)
			}
			require.Empty(t, owed)
			require.Contains(t, []string{"user", "tool"}, list[len(list)-1].Role)
			require.True(t, strings.HasSuffix(*list[len(list)-1].Content, "The task."), all)
		}
	}
}

// TestMistralHistory: no user after a tool, and no id but of nine letters and digits.
func TestMistralHistory(t *testing.T) {
	req := &provider.Request{Model: "m", Self: "Ada", Messages: []provider.Message{
		{Text: "Topic."},
		{Speaker: "Ada", ToolCalls: calls("toolu_01A09q90qw90lq917835lq9", "D681PevKs")},
		gives("toolu_01A09q90qw90lq917835lq9", "one"), gives("D681PevKs", "two"),
	}, Last: provider.Message{Text: "Go."}}
	assert.Equal(t, []string{
		"user: Topic.", "assistant 5163f0072 D681PevKs", "tool 5163f0072: one", "tool D681PevKs: two\n\nGo.",
	}, brief(conversed(t, openaicompat.Mistral("k"), req)))
	req.Last, req.Messages = provider.Message{}, append(req.Messages, provider.Message{Speaker: "Ada", Text: "Mine."}, provider.Message{Text: "Go."})
	assert.Equal(t, []string{"assistant: Mine.", "user: Go."}, brief(conversed(t, openaicompat.Mistral("k"), req))[4:])
}

// TestIDsOfCalls: OpenAI takes 40 characters (openclaw#875, 2026-01-13), and gateways for Claude no dots. Kimi's template shows a model
// its own ids again.
func TestIDsOfCalls(t *testing.T) {
	const id = "functions.f:0"
	long := strings.Repeat("portkey-", 11)
	for model, want := range map[string][]string{
		"gpt-5":              {"user: Topic.", "assistant functions_f_0 " + long[:40], "tool functions_f_0: one", "tool " + long[:40] + ": two\n\nGo."},
		"moonshotai/Kimi-K2": {"user: Topic.", "assistant functions.f:0 " + long[:64], "tool functions.f:0: one", "tool " + long[:64] + ": two\n\nGo."},
	} {
		req := &provider.Request{Model: model, Self: "Ada", Messages: []provider.Message{
			{Text: "Topic."}, {Speaker: "Ada", ToolCalls: calls(id, long)}, gives(long, "two"), gives(id, "one"),
		}, Last: provider.Message{Text: "Go."}}
		assert.Equal(t, want, brief(conversed(t, openaicompat.Compatible("", ""), req)))
	}
}

// TestOwnWordsFirst: many models take no conversation that the assistant begins.
func TestOwnWordsFirst(t *testing.T) {
	req := &provider.Request{Model: "m", System: "s", Self: "Ada", Messages: []provider.Message{{Speaker: "Ada", Text: "As I said."}}, Last: provider.Message{Text: "Go."}}
	for _, p := range []*openaicompat.Provider{openaicompat.VLLM("", ""), openaicompat.OpenAI("k")} {
		assert.Equal(t, []string{"system: s", "user: (The conversation begins with your own words.)", "assistant: As I said.", "user: Go."},
			brief(conversed(t, p, req)))
	}
}

func TestJoinedRoles(t *testing.T) {
	req := &provider.Request{Model: "m", System: "s", Self: "Ada", Messages: []provider.Message{
		{Text: "Topic."},
		{Speaker: "Ben", Text: "One."},
		{Speaker: "Ada", Text: "Two."},
		{Speaker: "Ada", Text: "Three.", ToolCalls: calls("c1")},
		gives("c1", "found"),
		{Speaker: "Ada", Text: "Four."},
		{Speaker: "Ada", ToolCalls: calls("c2")},
		gives("c2", "found"),
		{Speaker: "Ben", Fence: "f7Qx", Text: "Five."},
	}, Last: provider.Message{Text: "Go."}}
	want := []string{
		"system: s", "user: Topic.\n\nBen: One.",
		"assistant c1: Two.\n\nThree.", "tool c1: found", "assistant c2: Four.",
		"tool c2: found\n\n<<<f7Qx Ben>>>\nFive.\n<<<end f7Qx>>>\n\nGo.",
	}
	for _, p := range []*openaicompat.Provider{
		openaicompat.DeepSeek("k"), openaicompat.VLLM("", ""), openaicompat.Ollama(""), openaicompat.Compatible("", ""),
	} {
		assert.Equal(t, want, brief(conversed(t, p, req)), p)
	}
	for _, p := range []*openaicompat.Provider{
		openaicompat.OpenAI("k"), openaicompat.OpenRouter("k"), openaicompat.Mistral("k"), openaicompat.Groq("k"), openaicompat.XAI("k"),
	} {
		assert.NotContains(t, brief(conversed(t, p, req)), want[1], p)
	}
}

// TestGroqTakesASchemaOrTools: its structured output excludes tools, and its JSON mode too.
func TestGroqTakesASchemaOrTools(t *testing.T) {
	req := request()
	req.Schema = &provider.Schema{Name: "score", JSON: json.RawMessage(`{"type":"object"}`)}
	body := asked(t, openaicompat.Groq("k"), req)
	assert.Contains(t, body, "response_format")
	assert.Contains(t, body, `"stream":false`)
	req.Tools = []provider.Tool{{Name: "now"}}
	body = asked(t, openaicompat.Groq("k"), req)
	assert.NotContains(t, body, "response_format")
	assert.Contains(t, body, `"stream":true`)
	assert.Contains(t, body, `schema:\n{\"type\":\"object\"}`)
	assert.Contains(t, body, `"name":"now","parameters":{"type":"object","properties":{}}`)
}
