package vertex_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
)

func claude(t *testing.T, s providertest.Scenario) provider.Provider {
	t.Helper()
	server := httptest.NewServer(messages{s})
	t.Cleanup(server.Close)
	return at(server.URL, s.Key, server.Client()).Claude
}

// messages acts a scenario in the API's words.
type messages struct{ providertest.Scenario }

func (v messages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+v.Key || r.Header.Get("X-Api-Key") != "" {
		v.Fail = provider.KindAuthentication
	}
	if !strings.HasSuffix(r.URL.Path, ":streamRawPredict") {
		v.besides(w, r)
		return
	}
	got := sent(r)
	if v.Sent != nil {
		v.Sent(got)
	}
	if v.NoSystem && got.System != "" { // another model behind this protocol
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"type":"error","error":{"type":"invalid_request_error","message":"System role not supported"}}`)
		return
	}
	failing := v.Fail != "" && v.Fail != provider.KindInvalidResponse
	if failing && len(v.Reply) == 0 {
		v.fail(w)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	v.event(w, "message_start", map[string]any{"message": map[string]any{
		"type": "message", "role": "assistant", "content": []any{}, "model": v.Model, "stop_reason": nil,
		"usage": map[string]int{
			"input_tokens":            v.Usage.Input - v.Usage.CachedInput - v.Usage.CacheWrite,
			"cache_read_input_tokens": v.Usage.CachedInput, "cache_creation_input_tokens": v.Usage.CacheWrite, "output_tokens": 1,
		},
	}})
	v.event(w, "ping", map[string]any{})
	if len(v.Reply) > 0 {
		v.event(w, "content_block_start", map[string]any{"index": 0, "content_block": map[string]string{"type": "text", "text": ""}})
	}
	for i, text := range v.Reply {
		v.event(w, "content_block_delta", map[string]any{"index": 0, "delta": map[string]string{"type": "text_delta", "text": text}})
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
	case failing:
		v.event(w, "error", said[v.Fail].body(v.Key))
		return
	case v.Stop == provider.StopFilter:
		v.event(w, "error", said[provider.KindContentFilter].body(v.Key))
		return
	}
	if len(v.Reply) > 0 {
		v.event(w, "content_block_stop", map[string]any{"index": 0})
	}
	v.calls(w)
	v.event(w, "message_delta", map[string]any{
		"delta": map[string]any{"stop_sequence": nil, "stop_reason": map[provider.StopReason]string{
			provider.StopEnd: "end_turn", provider.StopLength: "max_tokens", provider.StopTool: "tool_use", provider.StopRefusal: "refusal",
		}[v.Stop]},
		"usage": map[string]any{
			"output_tokens": v.Usage.Output, "output_tokens_details": map[string]int{"thinking_tokens": v.Usage.Reasoning},
		},
	})
	v.event(w, "message_stop", map[string]any{})
}

// besides describes a model.
func (v messages) besides(w http.ResponseWriter, r *http.Request) {
	model, described := strings.CutPrefix(r.URL.Path, "/v1beta1/publishers/anthropic/models/")
	switch {
	case v.Fail != "":
		v.fail(w)
	case r.Method == http.MethodGet && described && slices.Contains(v.Models, model):
		_ = json.NewEncoder(w).Encode(map[string]string{
			"name": "publishers/anthropic/models/" + model, "versionId": "20250929", "launchStage": "GA",
		})
	default:
		v.Fail = provider.KindValidation
		v.fail(w)
	}
}

// calls sends the tool calls, each after a thought.
func (v messages) calls(w http.ResponseWriter) {
	at := min(len(v.Reply), 1)
	for _, c := range v.Calls {
		v.block(w, at, map[string]any{"type": "thinking", "thinking": "", "signature": ""},
			map[string]string{"type": "thinking_delta", "thinking": "Which word?"},
			map[string]string{"type": "signature_delta", "signature": "EqQB" + c.ID})
		half := len(c.Arguments) / 2
		v.block(w, at+1, map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": map[string]any{}},
			map[string]string{"type": "input_json_delta", "partial_json": ""},
			map[string]string{"type": "input_json_delta", "partial_json": string(c.Arguments[:half])},
			map[string]string{"type": "input_json_delta", "partial_json": string(c.Arguments[half:])})
		at += 2
	}
}

func (v messages) block(w http.ResponseWriter, index int, block map[string]any, pieces ...map[string]string) {
	v.event(w, "content_block_start", map[string]any{"index": index, "content_block": block})
	for _, piece := range pieces {
		v.event(w, "content_block_delta", map[string]any{"index": index, "delta": piece})
	}
	v.event(w, "content_block_stop", map[string]any{"index": index})
}

func (messages) event(w http.ResponseWriter, kind string, data map[string]any) {
	data["type"] = kind
	encoded, _ := json.Marshal(data)
	_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, encoded)
	w.(http.Flusher).Flush()
}

type words struct {
	status  int
	kind    string
	message string
}

func (s words) body(key string) map[string]any {
	return map[string]any{
		"type": "error", "error": map[string]string{"type": s.kind, "message": s.message + ", not with " + key}, "request_id": "req_1",
	}
}

var said = map[provider.Kind]words{
	provider.KindRateLimit:       {429, "rate_limit_error", "This would exceed your rate limit"},
	provider.KindQuota:           {402, "billing_error", "Pay first"},
	provider.KindAPI:             {529, "overloaded_error", "Overloaded"},
	provider.KindTimeout:         {504, "timeout_error", "Timed out"},
	provider.KindContextOverflow: {400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"},
	provider.KindAuthentication:  {401, "authentication_error", "invalid token"},
	provider.KindContentFilter:   {400, "invalid_request_error", "Output blocked by content filtering policy"},
	provider.KindValidation:      {404, "not_found_error", "model: x"},
}

func (v messages) fail(w http.ResponseWriter) {
	s := said[v.Fail]
	if v.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(v.RetryAfter.Seconds())))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(s.status)
	_ = json.NewEncoder(w).Encode(s.body(v.Key))
}

// sent reads a request back.
func sent(r *http.Request) providertest.Sent {
	type block struct {
		Type, Text, ID, Name, Thinking, Signature string

		Input     json.RawMessage
		ToolUseID string `json:"tool_use_id"`
		IsError   bool   `json:"is_error"`
		Content   []struct{ Text string }
	}
	var body struct {
		Model    *string
		Version  string `json:"anthropic_version"`
		System   []block
		Messages []struct {
			Role    provider.Role
			Content []block
		}
		MaxTokens    int `json:"max_tokens"`
		Temperature  *float64
		OutputConfig struct{ Format struct{ Type string } } `json:"output_config"`
		Tools        []struct{ Name string }
		Stream       bool
	}
	data, _ := io.ReadAll(r.Body)
	name, found := strings.CutPrefix(strings.TrimSuffix(r.URL.Path, ":streamRawPredict"), "/v1/"+place+"/publishers/anthropic/models/")
	if json.Unmarshal(data, &body) != nil || !body.Stream || !found || body.Model != nil || body.Version != "vertex-2023-10-16" {
		return providertest.Sent{}
	}
	join := func(blocks []block) string {
		var texts []string
		for _, b := range blocks {
			if b.Type == "text" {
				texts = append(texts, b.Text)
			}
		}
		return strings.Join(texts, "\n")
	}
	s := providertest.Sent{
		Body: data, Header: r.Header,
		Model: name, System: join(body.System), MaxTokens: body.MaxTokens, Temperature: body.Temperature,
		Schema: body.OutputConfig.Format.Type == "json_schema",
	}
	var thoughts []any // before the next call
	for _, m := range body.Messages {
		s.Turns = append(s.Turns, providertest.Turn{Role: m.Role, Text: join(m.Content)})
		for _, b := range m.Content {
			switch b.Type {
			case "thinking":
				thoughts = append(thoughts, map[string]string{"thinking": b.Thinking, "signature": b.Signature})
			case "tool_use":
				call := provider.ToolCall{ID: b.ID, Name: b.Name, Arguments: b.Input}
				if len(thoughts) > 0 {
					call.Opaque, _ = json.Marshal(map[string]any{"host": r.Host, "kept": map[string]any{"blocks": thoughts}})
				}
				s.Calls, thoughts = append(s.Calls, call), nil
			case "tool_result":
				s.Results = append(s.Results, provider.ToolResult{ID: b.ToolUseID, Text: b.Content[0].Text, Error: b.IsError})
			}
		}
	}
	for _, tool := range body.Tools {
		s.Tools = append(s.Tools, tool.Name)
	}
	return s
}
