package adaptertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
)

// Claude acts a scenario in the words of Anthropic's API.
type Claude struct {
	providertest.Scenario

	// Vertex makes it Vertex AI, and is the place of its models: "projects/debates/locations/global".
	Vertex string
}

// ServeHTTP answers a request.
func (v Claude) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !v.knows(r.Header) {
		v.Fail = provider.KindAuthentication
	}
	model, ok := v.asked(r.URL.Path)
	if !ok {
		v.besides(w, r)
		return
	}
	got, ordered := v.sent(r, model)
	if v.Sent != nil {
		v.Sent(got)
	}
	if !ordered {
		Refuse(w, &v.Scenario, http.StatusBadRequest, map[string]any{"type": "error", "error": map[string]string{
			"type": "invalid_request_error", "message": "messages: `tool_use` ids were found without `tool_result` blocks immediately after",
		}})
		return
	}
	if v.NoSystem && got.System != "" { // a server of another vendor with this protocol, and the template of Gemma behind it
		Refuse(w, &v.Scenario, http.StatusBadRequest, map[string]any{
			"type": "error", "error": map[string]string{"type": "invalid_request_error", "message": "System role not supported"},
		})
		return
	}
	if Fails(&v.Scenario) && len(v.Reply) == 0 {
		v.fail(w)
		return
	}
	v.reply(w, r)
}

// knows reports whether a request has the key in its place.
func (v Claude) knows(h http.Header) bool {
	if v.Vertex != "" {
		return h.Get("Authorization") == "Bearer "+v.Key && h.Get("X-Api-Key") == ""
	}
	return h.Get("X-Api-Key") == v.Key && h.Get("Authorization") == ""
}

// asked reports whether a path is that of a reply, and which model it names.
func (v Claude) asked(path string) (model string, ok bool) {
	if v.Vertex == "" {
		return "", path == "/v1/messages"
	}
	path, ok = strings.CutSuffix(path, ":streamRawPredict")
	if !ok {
		return "", false
	}
	return strings.CutPrefix(path, "/v1/"+v.Vertex+"/publishers/anthropic/models/")
}

func (v Claude) reply(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	v.event(w, "message_start", map[string]any{"message": map[string]any{
		"type": "message", "role": "assistant", "content": []any{}, "model": v.Model, "stop_reason": nil,
		"usage": map[string]int{
			"input_tokens":            v.Usage.Input - v.Usage.CachedInput - v.Usage.CacheWrite,
			"cache_read_input_tokens": v.Usage.CachedInput, "cache_creation_input_tokens": v.Usage.CacheWrite, "output_tokens": 1,
		},
	}})
	v.event(w, "ping", map[string]any{})
	if len(v.Thoughts) > 0 {
		var pieces []map[string]any
		for _, thought := range v.Thoughts {
			pieces = append(pieces, map[string]any{"type": "thinking_delta", "thinking": thought})
		}
		v.block(w, 90, map[string]any{"type": "thinking", "thinking": "", "signature": ""}, pieces...)
	}
	if len(v.Citations) > 0 {
		v.cite(w)
		v.Reply = nil
	}
	if len(v.Reply) > 0 {
		v.event(w, "content_block_start", map[string]any{"index": 0, "content_block": map[string]string{"type": "text", "text": ""}})
	}
	whole := Speak(&v.Scenario, r, func(text string) {
		v.event(w, "content_block_delta", map[string]any{"index": 0, "delta": map[string]string{"type": "text_delta", "text": text}})
	})
	switch {
	case !whole || v.Cut:
		return
	case Fails(&v.Scenario):
		v.event(w, "error", claudeFaults[v.Fail].body(v.Key))
		return
	case v.Stop == provider.StopFilter:
		v.event(w, "error", claudeFaults[provider.KindContentFilter].body(v.Key))
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

// cite sends the text in blocks, each with the sources that are at its place.
func (v Claude) cite(w http.ResponseWriter) {
	text, from, at := strings.Join(v.Reply, ""), 0, 20
	block := func(to int, sources ...provider.Citation) {
		pieces := []map[string]any{{"type": "text_delta", "text": text[from:to]}}
		for _, c := range sources {
			pieces = append(pieces, map[string]any{"type": "citations_delta", "citation": map[string]string{
				"type": "web_search_result_location", "url": c.URL, "title": c.Title, "cited_text": "As it is.", "encrypted_index": "Eo8B",
			}})
		}
		v.block(w, at, map[string]any{"type": "text", "text": "", "citations": []any{}}, pieces...)
		from = to
		at++
	}
	for _, c := range v.Citations {
		if c.Start >= from && c.End > c.Start {
			block(c.Start)
			block(c.End, c)
		}
	}
	block(len(text), v.Citations[len(v.Citations)-1])
}

// besides describes a model.
func (v Claude) besides(w http.ResponseWriter, r *http.Request) {
	models, description := "/v1/models/", func(model string) map[string]string {
		return map[string]string{"type": "model", "id": model, "display_name": "Claude", "created_at": "2026-02-04T00:00:00Z"}
	}
	if v.Vertex != "" {
		models, description = "/v1beta1/publishers/anthropic/models/", func(model string) map[string]string {
			return map[string]string{"name": "publishers/anthropic/models/" + model, "versionId": "20250929", "launchStage": "GA"}
		}
	}
	model, described := strings.CutPrefix(r.URL.Path, models)
	if v.Fail == "" && r.Method == http.MethodGet && described && slices.Contains(v.Models, model) {
		_ = json.NewEncoder(w).Encode(description(model))
		return
	}
	if v.Fail == "" {
		v.Fail = provider.KindValidation
	}
	v.fail(w)
}

// calls sends the tool calls, each after a thought.
func (v Claude) calls(w http.ResponseWriter) {
	at := min(len(v.Reply), 1)
	for _, c := range v.Calls {
		v.block(w, at, map[string]any{"type": "thinking", "thinking": "", "signature": ""},
			map[string]any{"type": "thinking_delta", "thinking": "Which word?"},
			map[string]any{"type": "signature_delta", "signature": "EqQB" + c.ID})
		half := len(c.Arguments) / 2
		v.block(w, at+1, map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": map[string]any{}},
			map[string]any{"type": "input_json_delta", "partial_json": ""},
			map[string]any{"type": "input_json_delta", "partial_json": string(c.Arguments[:half])},
			map[string]any{"type": "input_json_delta", "partial_json": string(c.Arguments[half:])})
		at += 2
	}
}

func (v Claude) block(w http.ResponseWriter, index int, block map[string]any, pieces ...map[string]any) {
	v.event(w, "content_block_start", map[string]any{"index": index, "content_block": block})
	for _, piece := range pieces {
		v.event(w, "content_block_delta", map[string]any{"index": index, "delta": piece})
	}
	v.event(w, "content_block_stop", map[string]any{"index": index})
}

func (Claude) event(w http.ResponseWriter, kind string, data map[string]any) {
	data["type"] = kind
	encoded, _ := json.Marshal(data)
	Say(w, fmt.Sprintf("event: %s\ndata: %s\n\n", kind, encoded))
}

// claudeFault is a failure in the words of the API.
type claudeFault struct {
	status        int
	kind, message string
}

func (f claudeFault) body(key string) map[string]any {
	return map[string]any{
		"type": "error", "error": map[string]string{"type": f.kind, "message": f.message + ", not with " + key}, "request_id": "req_1",
	}
}

var claudeFaults = map[provider.Kind]claudeFault{
	provider.KindRateLimit:       {429, "rate_limit_error", "This would exceed your rate limit"},
	provider.KindQuota:           {402, "billing_error", "Pay first"},
	provider.KindAPI:             {529, "overloaded_error", "Overloaded"},
	provider.KindTimeout:         {504, "timeout_error", "Timed out"},
	provider.KindContextOverflow: {400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"},
	provider.KindAuthentication:  {401, "authentication_error", "invalid x-api-key"},
	provider.KindContentFilter:   {400, "invalid_request_error", "Output blocked by content filtering policy"},
	provider.KindValidation:      {404, "not_found_error", "model: x"},
}

func (v Claude) fail(w http.ResponseWriter) {
	f := claudeFaults[v.Fail]
	Refuse(w, &v.Scenario, f.status, f.body(v.Key))
}

// claudeBlock is a part of a message.
type claudeBlock struct {
	Type, Text, ID, Name, Thinking, Signature string

	Input     json.RawMessage
	ToolUseID string `json:"tool_use_id"`
	IsError   bool   `json:"is_error"`
	Content   []struct{ Text string }
}

type claudeMessage struct {
	Role    provider.Role
	Content []claudeBlock
}

// orderly reports whether the API takes the order of messages: the user begins, the roles alternate, and the results of a message's calls,
// all and in their order, begin the next one.
func orderly(messages []claudeMessage) bool {
	var owed []string
	for i, m := range messages {
		if m.Role != []provider.Role{provider.RoleUser, provider.RoleAssistant}[i%2] || len(m.Content) < max(1, len(owed)) {
			return false
		}
		for j, b := range m.Content {
			if j < len(owed) && b.ToolUseID != owed[j] || j >= len(owed) && b.Type == "tool_result" {
				return false
			}
		}
		owed = nil
		for _, b := range m.Content {
			if b.Type == "tool_use" {
				owed = append(owed, b.ID)
			}
		}
	}
	return len(owed) == 0
}

// sent reads a request back, and reports whether its messages are in order. model is the one that its path names.
func (v Claude) sent(r *http.Request, model string) (got providertest.Sent, ordered bool) {
	var body struct {
		Model        *string
		Version      string `json:"anthropic_version"`
		System       []claudeBlock
		Messages     []claudeMessage
		MaxTokens    int `json:"max_tokens"`
		Temperature  *float64
		OutputConfig struct{ Format struct{ Type string } } `json:"output_config"`
		Tools        []struct{ Name string }
		Stream       bool
	}
	data, _ := io.ReadAll(r.Body)
	onVertex := v.Vertex != ""
	if json.Unmarshal(data, &body) != nil || !body.Stream || onVertex == (body.Model != nil) || onVertex != (body.Version == "vertex-2023-10-16") {
		return providertest.Sent{}, true
	}
	if body.Model != nil {
		model = *body.Model
	}
	join := func(blocks []claudeBlock) string {
		var texts []string
		for _, b := range blocks {
			if b.Type == "text" {
				texts = append(texts, b.Text)
			}
		}
		return strings.Join(texts, "\n")
	}
	s := providertest.Sent{
		Body: data, Header: r.Header, Model: model, System: join(body.System), MaxTokens: body.MaxTokens, Temperature: body.Temperature,
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
	return s, orderly(body.Messages)
}
