package adaptertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
)

// Chat acts a scenario in the words of OpenAI's Chat Completions, which many servers speak.
type Chat struct {
	providertest.Scenario

	// JSONObject says that a schema may be asked for as any JSON document, because some servers take no schema.
	JSONObject bool
}

// ServeHTTP answers a request.
func (v Chat) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	got, ordered := v.sent(r)
	if v.Sent != nil {
		v.Sent(got)
	}
	switch {
	case !ordered:
		Refuse(w, &v.Scenario, http.StatusBadRequest, map[string]any{"error": map[string]any{
			"message": "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
			"type":    "invalid_request_error", "param": "messages", "code": nil,
		}})
	case v.NoSystem && got.System != "": // as vLLM says it of Gemma: chat-ui#1386 (2024-08-05)
		Refuse(w, &v.Scenario, http.StatusBadRequest, map[string]any{
			"object": "error", "message": "System role not supported", "type": "BadRequestError", "param": nil, "code": 400,
		})
	case v.Alternate && !got.Alternates(): // as vLLM says it: autogen#1037 (2023-12-21)
		Refuse(w, &v.Scenario, http.StatusBadRequest, map[string]any{
			"object": "error", "message": "Conversation roles must alternate user/assistant/user/assistant/...", "type": "BadRequestError", "code": 400,
		})
	case Fails(&v.Scenario) && len(v.Reply) == 0:
		v.Refuse(w)
	case strings.HasSuffix(r.URL.Path, "/models"):
		list := []any{}
		for _, id := range v.Models {
			list = append(list, map[string]string{"id": id})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": list})
	case strings.HasSuffix(r.URL.Path, "/key"): // OpenRouter's
	case strings.Contains(r.URL.Path, "/models/"):
		http.NotFound(w, r)
	default:
		v.reply(w, r)
	}
}

func (v Chat) reply(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, thought := range v.Thoughts {
		v.send(w, map[string]any{"content": nil, "reasoning_content": thought}, "")
	}
	whole := Speak(&v.Scenario, r, func(text string) { v.send(w, map[string]any{"content": text}, "") })
	switch {
	case !whole || v.Cut:
		return
	case Fails(&v.Scenario):
		data, _ := json.Marshal(v.failure())
		Say(w, "data: "+string(data)+"\n\n")
		return
	}
	for i, c := range v.Calls {
		v.send(w, map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": c.ID, "type": "function", "function": map[string]string{"name": c.Name, "arguments": string(c.Arguments)},
		}}}, "")
	}
	if v.Stop == provider.StopRefusal {
		v.send(w, map[string]any{"refusal": "No."}, "")
	}
	if len(v.Citations) > 0 {
		v.send(w, map[string]any{"annotations": v.annotations()}, "")
	}
	v.send(w, map[string]any{}, map[provider.StopReason]string{
		provider.StopLength: "length", provider.StopFilter: "content_filter", provider.StopTool: "tool_calls",
	}[v.Stop])
	Say(w, fmt.Sprintf(
		`data: {"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d,"cache_write_tokens":%d},"completion_tokens_details":{"reasoning_tokens":%d}}}`+"\n\ndata: [DONE]\n\n",
		v.Usage.Input, v.Usage.Output, v.Usage.CachedInput, v.Usage.CacheWrite, v.Usage.Reasoning,
	))
}

// annotations names the sources, with places in characters.
func (v Chat) annotations() []any {
	var list []any
	text := strings.Join(v.Reply, "")
	at := func(place int) int { return utf8.RuneCountInString(text[:place]) }
	for _, c := range v.Citations {
		list = append(list, map[string]any{"type": "url_citation", "url_citation": map[string]any{
			"url": c.URL, "title": c.Title, "start_index": at(c.Start), "end_index": at(c.End),
		}})
	}
	return list
}

// send writes a chunk. An empty delta is the last one.
func (v Chat) send(w http.ResponseWriter, delta map[string]any, reason string) {
	choice := map[string]any{"index": 0, "delta": delta, "finish_reason": nil}
	if len(delta) == 0 {
		if choice["finish_reason"] = reason; reason == "" {
			choice["finish_reason"] = "stop"
		}
	}
	data, _ := json.Marshal(map[string]any{"model": v.Model, "choices": []any{choice}})
	Say(w, "data: "+string(data)+"\n\n")
}

// chatFault is a failure in the words of the API.
type chatFault struct {
	status int
	code   string
}

var chatFaults = map[provider.Kind]chatFault{
	provider.KindRateLimit:       {429, "rate_limit_exceeded"},
	provider.KindQuota:           {429, "insufficient_quota"},
	provider.KindAPI:             {500, "server_error"},
	provider.KindTimeout:         {504, ""},
	provider.KindContextOverflow: {400, "context_length_exceeded"},
	provider.KindAuthentication:  {401, "invalid_api_key"},
	provider.KindContentFilter:   {400, "content_filter"},
	provider.KindValidation:      {404, "model_not_found"},
}

// Code returns the code of the failure that the scenario wants.
func (v Chat) Code() string { return chatFaults[v.Fail].code }

func (v Chat) failure() any {
	return map[string]any{"error": map[string]any{"message": "not with " + v.Key, "code": v.Code()}}
}

// Refuse answers with the failure that the scenario wants.
func (v Chat) Refuse(w http.ResponseWriter) {
	Refuse(w, &v.Scenario, chatFaults[v.Fail].status, v.failure())
}

// sent reads a request back, and reports whether the results of each message's calls, all and in their order, stand right behind it.
func (v Chat) sent(r *http.Request) (got providertest.Sent, ordered bool) {
	var body struct {
		Model    string
		Messages []struct {
			Role       provider.Role
			Content    json.RawMessage
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		MaxTokens      int `json:"max_tokens"`
		MaxCompletion  int `json:"max_completion_tokens"`
		Temperature    *float64
		ResponseFormat struct{ Type string } `json:"response_format"`
		Tools          []struct{ Function struct{ Name string } }
	}
	data, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(data, &body) != nil {
		return providertest.Sent{}, true
	}
	ordered = true
	var owed []string
	s := providertest.Sent{
		Body: data, Header: r.Header, Model: body.Model, MaxTokens: max(body.MaxTokens, body.MaxCompletion), Temperature: body.Temperature,
		Schema: body.ResponseFormat.Type == "json_schema" || v.JSONObject && body.ResponseFormat.Type == "json_object",
	}
	for _, m := range body.Messages {
		next := "" // of whose call a result has to come
		if len(owed) > 0 {
			next, owed = owed[0], owed[1:]
		}
		ordered = ordered && m.ToolCallID == next
		switch m.Role {
		case provider.RoleSystem:
			s.System += textOf(m.Content)
			continue
		case "tool":
			s.Results = append(s.Results, provider.ToolResult{ID: m.ToolCallID, Text: textOf(m.Content)})
			continue
		}
		s.Turns = append(s.Turns, providertest.Turn{Role: m.Role, Text: textOf(m.Content)})
		for _, c := range m.ToolCalls {
			owed = append(owed, c.ID)
			s.Calls = append(s.Calls, provider.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: json.RawMessage(c.Function.Arguments)})
		}
	}
	for _, tool := range body.Tools {
		s.Tools = append(s.Tools, tool.Function.Name)
	}
	return s, ordered && len(owed) == 0
}

// textOf returns the text of a message's content, which may have other parts.
func textOf(content json.RawMessage) (text string) {
	var parts []struct{ Text string }
	if json.Unmarshal(content, &text) == nil || json.Unmarshal(content, &parts) != nil {
		return text
	}
	for _, p := range parts {
		text += p.Text
	}
	return text
}
