package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
	"github.com/agonist-dev/debate/provider/wire"
)

// chat acts the scenario in Chat Completions.
func (v vendor) chat(w http.ResponseWriter, r *http.Request) {
	got := sentChat(r)
	if v.Sent != nil {
		v.Sent(got)
	}
	if v.refuses(w, got) {
		return
	}
	if v.Fail != "" && v.Fail != provider.KindInvalidResponse && len(v.Reply) == 0 {
		v.fail(w)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta map[string]any, reason any) {
		data, _ := json.Marshal(map[string]any{
			"model": v.Model, "choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": reason}},
		})
		flush(w, "data: "+string(data)+"\n\n")
	}
	for _, thought := range v.Thoughts {
		send(map[string]any{"reasoning_content": thought}, nil)
	}
	for i, text := range v.Reply {
		send(map[string]any{"content": text}, nil)
		if i == 0 && v.Hold != nil {
			select {
			case <-v.Hold:
			case <-r.Context().Done():
				return
			}
		}
	}
	switch {
	case v.Cut:
		return
	case v.Fail != "" && v.Fail != provider.KindInvalidResponse:
		data, _ := json.Marshal(map[string]any{"error": map[string]any{"message": "not with " + v.Key, "code": signals[v.Fail].code}})
		flush(w, "data: "+string(data)+"\n\n")
		return
	}
	for i, c := range v.Calls {
		send(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": c.ID, "type": "function", "function": map[string]string{"name": c.Name, "arguments": string(c.Arguments)},
		}}}, nil)
	}
	reason := map[provider.StopReason]string{
		provider.StopEnd: "stop", provider.StopLength: "length", provider.StopFilter: "content_filter", provider.StopTool: "tool_calls",
	}[v.Stop]
	if v.Stop == provider.StopRefusal {
		send(map[string]any{"refusal": "No."}, nil)
		reason = "stop"
	}
	send(map[string]any{}, reason)
	flush(w, fmt.Sprintf(
		`data: {"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d,"cache_write_tokens":%d},"completion_tokens_details":{"reasoning_tokens":%d}}}`+"\n\ndata: [DONE]\n\n",
		v.Usage.Input, v.Usage.Output, v.Usage.CachedInput, v.Usage.CacheWrite, v.Usage.Reasoning,
	))
}

// sentChat reads a request for a chat completion back.
func sentChat(r *http.Request) providertest.Sent {
	var body struct {
		Model    string
		Messages []struct {
			Role       provider.Role
			Content    json.RawMessage // a text, or parts
			ToolCallID string          `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		MaxTokens      int `json:"max_tokens"`
		Temperature    *float64
		ResponseFormat *struct{ Type string } `json:"response_format"`
		Tools          []struct{ Function struct{ Name string } }
	}
	data, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(data, &body); err != nil {
		return providertest.Sent{}
	}
	s := providertest.Sent{
		Body: data, Header: r.Header, Model: body.Model, MaxTokens: body.MaxTokens, Temperature: body.Temperature,
		Schema: body.ResponseFormat != nil && body.ResponseFormat.Type == "json_schema",
	}
	for _, m := range body.Messages {
		if m.Role == provider.RoleSystem {
			s.System += wire.Plain(m.Content)
			continue
		}
		if m.Role == "tool" {
			s.Results = append(s.Results, provider.ToolResult{ID: m.ToolCallID, Text: wire.Plain(m.Content)})
			continue
		}
		s.Turns = append(s.Turns, providertest.Turn{Role: m.Role, Text: wire.Plain(m.Content)})
		for _, c := range m.ToolCalls {
			s.Calls = append(s.Calls, provider.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: json.RawMessage(c.Function.Arguments)})
		}
	}
	for _, tool := range body.Tools {
		s.Tools = append(s.Tools, tool.Function.Name)
	}
	return s
}
