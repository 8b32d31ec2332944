package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/providertest"
	"github.com/agonist-dev/debate/provider/wire"
)

func (v vendor) respond(w http.ResponseWriter, r *http.Request) {
	got, ordered := sentResponses(r)
	if v.Sent != nil {
		v.Sent(got)
	}
	if !ordered {
		answerJSON(w, http.StatusBadRequest, `{"error":{"message":"No tool output found for function call.","type":"invalid_request_error","param":"input"}}`)
		return
	}
	if v.NoSystem && got.System != "" { // forgecode#1177 (2025-07-22)
		answerJSON(w, http.StatusBadRequest, `{"error":{"message":"Unsupported value: 'messages[0].role' does not support 'system' with this model.",`+
			`"type":"invalid_request_error","param":"messages[0].role","code":"unsupported_value"}}`)
		return
	}
	if adaptertest.Fails(&v.Scenario) && len(v.Reply) == 0 {
		v.Refuse(w)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s := &script{w: w, model: v.Model}
	s.begin()
	if len(v.Thoughts) > 0 {
		for _, thought := range v.Thoughts {
			s.send("response.reasoning_summary_text.delta", map[string]any{"output_index": len(s.output), "summary_index": 0, "delta": thought})
		}
		summary := []any{map[string]any{"type": "summary_text", "text": strings.Join(v.Thoughts, "")}}
		s.done(map[string]any{"id": "rs_0", "type": "reasoning", "summary": summary})
	}
	s.annotations = annotations(v.Citations, strings.Join(v.Reply, ""))
	if len(v.Reply) > 0 {
		s.openMessage()
	}
	whole := adaptertest.Speak(&v.Scenario, r, s.text)
	switch {
	case !whole || v.Cut:
		return
	case adaptertest.Fails(&v.Scenario):
		s.send("error", map[string]any{"code": v.Code(), "message": "not with " + v.Key, "param": nil})
		return
	}
	if v.Stop == provider.StopRefusal {
		s.refusal("No.")
	}
	s.closeMessage()
	for i, c := range v.Calls {
		s.done(map[string]any{
			"id": fmt.Sprintf("rs_%d", i), "type": "reasoning", "summary": []any{}, "encrypted_content": "c2VhbGVk+" + c.ID,
		})
		s.call(c)
	}
	s.end(v.Stop, v.Usage)
}

// annotations writes sources, with places counted in characters.
func annotations(sources []provider.Citation, text string) []any {
	list := []any{}
	for _, c := range sources {
		list = append(list, map[string]any{
			"type": "url_citation", "url": c.URL, "title": c.Title,
			"start_index": utf8.RuneCountInString(text[:c.Start]), "end_index": utf8.RuneCountInString(text[:c.End]),
		})
	}
	return list
}

// script writes the events of a response.
type script struct {
	annotations []any

	w        http.ResponseWriter
	model    string
	sequence int
	output   []any
	parts    []any  // of the open message; nil: none is open
	words    string // of the open part
}

func (s *script) send(kind string, fields map[string]any) {
	fields["type"], fields["sequence_number"] = kind, s.sequence
	s.sequence++
	data, _ := json.Marshal(fields)
	adaptertest.Say(s.w, "event: "+kind+"\ndata: "+string(data)+"\n\n")
}

func (s *script) response(status string) map[string]any {
	output := s.output
	if output == nil {
		output = []any{}
	}
	return map[string]any{
		"id": "resp_1", "object": "response", "created_at": 1741476777, "status": status, "error": nil,
		"incomplete_details": nil, "model": s.model, "output": output, "store": false, "usage": nil,
	}
}

func (s *script) begin() {
	s.send("response.created", map[string]any{"response": s.response("in_progress")})
	s.send("response.in_progress", map[string]any{"response": s.response("in_progress")})
}

func (s *script) place(fields map[string]any) map[string]any {
	fields["output_index"], fields["content_index"], fields["item_id"] = len(s.output), len(s.parts), "msg_1"
	return fields
}

func (s *script) openMessage() {
	s.send("response.output_item.added", s.place(map[string]any{
		"item": map[string]any{"id": "msg_1", "type": "message", "status": "in_progress", "role": "assistant", "content": []any{}},
	}))
	s.send("response.content_part.added", s.place(map[string]any{"part": map[string]any{"type": "output_text", "text": ""}}))
	s.parts = []any{}
}

func (s *script) text(text string) {
	s.words += text
	s.send("response.output_text.delta", s.place(map[string]any{"delta": text, "logprobs": []any{}}))
}

func (s *script) refusal(text string) {
	if s.parts == nil {
		s.openMessage()
	}
	s.parts = append(s.parts, map[string]any{"type": "output_text", "text": s.words, "annotations": []any{}})
	s.send("response.refusal.delta", s.place(map[string]any{"delta": text}))
	s.send("response.refusal.done", s.place(map[string]any{"refusal": text}))
	s.parts = append(s.parts, map[string]any{"type": "refusal", "refusal": text})
	s.words = ""
}

func (s *script) closeMessage() {
	if s.parts == nil {
		return
	}
	if s.words != "" {
		part := map[string]any{"type": "output_text", "text": s.words, "annotations": s.annotations}
		s.send("response.output_text.done", s.place(map[string]any{"text": s.words}))
		s.send("response.content_part.done", s.place(map[string]any{"part": part}))
		s.parts = append(s.parts, part)
	}
	s.done(map[string]any{"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": s.parts})
	s.parts, s.words = nil, ""
}

func (s *script) done(item map[string]any) {
	s.send("response.output_item.done", map[string]any{"output_index": len(s.output), "item": item})
	s.output = append(s.output, item)
}

func (s *script) call(c provider.ToolCall) {
	item := map[string]any{
		"id": "fc_" + c.ID, "type": "function_call", "status": "completed",
		"call_id": c.ID, "name": c.Name, "arguments": string(c.Arguments),
	}
	at := map[string]any{"output_index": len(s.output), "item_id": item["id"], "delta": string(c.Arguments)}
	s.send("response.function_call_arguments.delta", at)
	s.done(item)
}

func (s *script) end(stop provider.StopReason, usage provider.Usage) {
	kind := "completed"
	last := s.response(kind)
	if reason := map[provider.StopReason]string{
		provider.StopLength: "max_output_tokens", provider.StopFilter: "content_filter",
	}[stop]; reason != "" {
		kind = "incomplete"
		last["status"], last["incomplete_details"] = kind, map[string]any{"reason": reason}
	}
	last["usage"] = map[string]any{
		"input_tokens": usage.Input, "output_tokens": usage.Output, "total_tokens": usage.Input + usage.Output,
		"input_tokens_details":  map[string]any{"cached_tokens": usage.CachedInput, "cache_write_tokens": usage.CacheWrite},
		"output_tokens_details": map[string]any{"reasoning_tokens": usage.Reasoning},
	}
	s.send("response."+kind, map[string]any{"response": last})
}

// sentResponses reads a request for a response back, and reports whether calls have their results, all and in their order, before anything
// else is said.
func sentResponses(r *http.Request) (got providertest.Sent, ordered bool) {
	var body struct {
		Model           string
		Instructions    string
		MaxOutputTokens int `json:"max_output_tokens"`
		Temperature     *float64
		Text            struct{ Format struct{ Type string } }
		Tools           []struct{ Name string }
		Input           []json.RawMessage
	}
	data, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(data, &body); err != nil {
		return providertest.Sent{}, true
	}
	ordered = true
	var owed []string
	s := providertest.Sent{
		Body: data, Header: r.Header, Model: body.Model, System: body.Instructions, MaxTokens: body.MaxOutputTokens, Temperature: body.Temperature,
		Schema: body.Text.Format.Type == "json_schema",
	}
	for _, tool := range body.Tools {
		s.Tools = append(s.Tools, tool.Name)
	}
	var thoughts []json.RawMessage // before the next call
	for _, raw := range body.Input {
		var item struct {
			Type, Name, Arguments, Output string
			Content                       json.RawMessage // a text, or parts
			Role                          provider.Role
			CallID                        string `json:"call_id"`
		}
		if json.Unmarshal(raw, &item) != nil {
			return providertest.Sent{}, true
		}
		switch item.Type {
		case "reasoning":
			thoughts = append(thoughts, raw)
		case "function_call":
			call := provider.ToolCall{ID: item.CallID, Name: item.Name, Arguments: json.RawMessage(item.Arguments)}
			if len(thoughts) > 0 {
				call.Opaque, _ = json.Marshal(map[string]any{"host": r.Host, "model": body.Model, "kept": map[string]any{"reasoning": thoughts}})
			}
			s.Calls, thoughts = append(s.Calls, call), nil
			owed = append(owed, item.CallID)
		case "function_call_output":
			ordered = ordered && len(owed) > 0 && owed[0] == item.CallID
			owed = owed[min(1, len(owed)):]
			s.Results = append(s.Results, provider.ToolResult{ID: item.CallID, Text: item.Output})
		default: // a message says of what type it is, or not
			ordered = ordered && len(owed) == 0
			s.Turns = append(s.Turns, providertest.Turn{Role: item.Role, Text: wire.Plain(item.Content)})
		}
	}
	return s, ordered && len(owed) == 0
}
