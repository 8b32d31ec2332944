package openaicompat_test

import (
	"encoding/json"
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

	req.Messages = append(req.Messages, provider.Message{Speaker: "Ada", ToolCalls: calls("call_0", "", "D681PevKs", "call_0")})
	seen := map[string]bool{}
	for _, m := range conversed(t, openaicompat.Mistral("k"), req) {
		for _, c := range m.ToolCalls {
			assert.Regexp(t, `^[a-zA-Z0-9]{9}$`, c.ID)
			seen[c.ID] = true
		}
	}
	assert.Len(t, seen, 6)
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
