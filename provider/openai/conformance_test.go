package openai_test

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
	"github.com/agonist-dev/debate/provider/openai"
	"github.com/agonist-dev/debate/provider/providertest"
)

func TestConformance(t *testing.T) {
	for name, way := range map[string]struct {
		api  openai.API
		lack bool // the server has no /responses
	}{
		"auto":              {openai.Auto, false},
		"responses":         {openai.Responses, false},
		"chat completions":  {openai.ChatCompletions, false},
		"without responses": {openai.Auto, true},
	} {
		t.Run(name, func(t *testing.T) {
			connect := func(t *testing.T, s providertest.Scenario) provider.Provider {
				t.Helper()
				if s.Name == "count" && (way.lack || way.api == openai.ChatCompletions) {
					t.Skip("only /responses counts tokens")
				}
				server := httptest.NewServer(vendor{Scenario: s, lack: way.lack})
				t.Cleanup(server.Close)
				p := openai.New(s.Key)
				p.BaseURL, p.Client, p.API = server.URL+"/v1", server.Client(), way.api
				return p
			}
			providertest.Run(t, connect)
			providertest.RunAbilities(t, connect)
		})
	}
}

// vendor acts a scenario in OpenAI's words, by either API.
type vendor struct {
	providertest.Scenario

	lack bool // it is a server such as vLLM, with a list of its models and vectors in decimals
}

func (v vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch what := r.Method + " " + r.URL.Path; {
	case what == "POST /v1/chat/completions":
		v.chat(w, r)
	case what == "POST /v1/responses" && !v.lack:
		v.respond(w, r)
	case what == "POST /v1/responses/input_tokens" && !v.lack:
		v.count(w, r)
	case what == "POST /v1/embeddings":
		v.embed(w, r)
	case what == "GET /v1/models" && v.lack:
		v.list(w)
	case strings.HasPrefix(what, "GET /v1/models/") && !v.lack:
		v.model(w, strings.TrimPrefix(r.URL.Path, "/v1/models/"))
	default:
		answerJSON(w, http.StatusNotFound, `{"detail":"Not Found"}`)
	}
}

// model describes a model.
func (v vendor) model(w http.ResponseWriter, id string) {
	switch {
	case v.Fail != "":
		v.fail(w)
	case slices.Contains(v.Models, id):
		answerJSON(w, http.StatusOK, described(id))
	default:
		answerJSON(w, http.StatusNotFound, `{"error":{"message":"The model '`+id+
			`' does not exist","type":"invalid_request_error","param":"model","code":"model_not_found"}}`)
	}
}

func described(id string) string {
	return `{"id":"` + id + `","object":"model","created":1741476777,"owned_by":"system"}`
}

// list describes all models.
func (v vendor) list(w http.ResponseWriter) {
	if v.Fail != "" {
		v.fail(w)
		return
	}
	list := make([]string, len(v.Models))
	for i, id := range v.Models {
		list[i] = described(id)
	}
	answerJSON(w, http.StatusOK, `{"object":"list","data":[`+strings.Join(list, ",")+`]}`)
}

// count says how many tokens a request is that holds a conversation.
func (v vendor) count(w http.ResponseWriter, r *http.Request) {
	if v.Fail != "" {
		v.fail(w)
		return
	}
	if s := sentResponses(r); s.Model == "" || s.System == "" || len(s.Turns) == 0 {
		answerJSON(w, http.StatusBadRequest, `{"error":{"message":"There is nothing to count.","type":"invalid_request_error"}}`)
		return
	}
	answerJSON(w, http.StatusOK, fmt.Sprintf(`{"object":"response.input_tokens","input_tokens":%d}`, v.Tokens))
}

// embed answers with a vector for each text, that of the last text first.
func (v vendor) embed(w http.ResponseWriter, r *http.Request) {
	if v.Fail != "" {
		v.fail(w)
		return
	}
	var body struct {
		Input  []string
		Format string `json:"encoding_format"`
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil || len(body.Input) != len(v.Vectors) {
		answerJSON(w, http.StatusBadRequest, `{"error":{"message":"'$.input' is invalid.","type":"invalid_request_error"}}`)
		return
	}
	var data []string
	for i, vector := range slices.Backward(v.Vectors) {
		written := pack(vector...)
		if v.lack || body.Format != "base64" {
			decimals, _ := json.Marshal(vector)
			written = string(decimals)
		}
		data = append(data, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":%s}`, i, written))
	}
	answerJSON(w, http.StatusOK, fmt.Sprintf(
		`{"object":"list","data":[%s],"model":%q,"usage":{"prompt_tokens":6,"total_tokens":6}}`, strings.Join(data, ","), v.Model,
	))
}

func (v vendor) respond(w http.ResponseWriter, r *http.Request) {
	if v.Sent != nil {
		v.Sent(sentResponses(r))
	}
	if v.Fail != "" && v.Fail != provider.KindInvalidResponse && len(v.Reply) == 0 {
		v.fail(w)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s := &script{w: w, model: v.Model}
	s.begin()
	if len(v.Reply) > 0 {
		s.openMessage()
	}
	for i, text := range v.Reply {
		s.text(text)
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
		s.send("error", map[string]any{"code": signals[v.Fail].code, "message": "not with " + v.Key, "param": nil})
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

// script writes the events of a response.
type script struct {
	w        io.Writer
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
	flush(s.w, "event: "+kind+"\ndata: "+string(data)+"\n\n")
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
		part := map[string]any{"type": "output_text", "text": s.words, "annotations": []any{}}
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

type signal struct {
	status int
	code   string
}

var signals = map[provider.Kind]signal{
	provider.KindRateLimit:       {429, "rate_limit_exceeded"},
	provider.KindQuota:           {429, "insufficient_quota"},
	provider.KindAPI:             {500, "server_error"},
	provider.KindTimeout:         {504, ""},
	provider.KindContextOverflow: {400, "context_length_exceeded"},
	provider.KindAuthentication:  {401, "invalid_api_key"},
	provider.KindContentFilter:   {400, "content_filter"},
	provider.KindValidation:      {404, "model_not_found"},
}

func (v vendor) fail(w http.ResponseWriter) {
	s := signals[v.Fail]
	if v.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(v.RetryAfter.Seconds())))
	}
	w.WriteHeader(s.status)
	data, _ := json.Marshal(map[string]any{"error": map[string]any{"message": "not with " + v.Key, "code": s.code}})
	flush(w, string(data))
}

// sentResponses reads a request for a response back.
func sentResponses(r *http.Request) providertest.Sent {
	var body struct {
		Model           string
		Instructions    string
		MaxOutputTokens int `json:"max_output_tokens"`
		Temperature     *float64
		Text            struct{ Format struct{ Type string } }
		Tools           []struct{ Name string }
		Input           []json.RawMessage
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return providertest.Sent{}
	}
	s := providertest.Sent{
		Model: body.Model, System: body.Instructions, MaxTokens: body.MaxOutputTokens, Temperature: body.Temperature,
		Schema: body.Text.Format.Type == "json_schema",
	}
	for _, tool := range body.Tools {
		s.Tools = append(s.Tools, tool.Name)
	}
	var thoughts []json.RawMessage // before the next call
	for _, raw := range body.Input {
		var item struct {
			Type, Content, Name, Arguments, Output string
			Role                                   provider.Role
			CallID                                 string `json:"call_id"`
		}
		if json.Unmarshal(raw, &item) != nil {
			return providertest.Sent{}
		}
		switch item.Type {
		case "reasoning":
			thoughts = append(thoughts, raw)
		case "function_call":
			call := provider.ToolCall{ID: item.CallID, Name: item.Name, Arguments: json.RawMessage(item.Arguments)}
			if len(thoughts) > 0 {
				call.Opaque, _ = json.Marshal(map[string]any{"openai": body.Model, "reasoning": thoughts})
			}
			s.Calls, thoughts = append(s.Calls, call), nil
		case "function_call_output":
			s.Results = append(s.Results, provider.ToolResult{ID: item.CallID, Text: item.Output})
		default: // a message says of what type it is, or not
			s.Turns = append(s.Turns, providertest.Turn{Role: item.Role, Text: item.Content})
		}
	}
	return s
}

// chat acts the scenario in Chat Completions.
func (v vendor) chat(w http.ResponseWriter, r *http.Request) {
	if v.Sent != nil {
		v.Sent(sentChat(r))
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
			Content    string
			ToolCallID string `json:"tool_call_id"`
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
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return providertest.Sent{}
	}
	s := providertest.Sent{
		Model: body.Model, MaxTokens: body.MaxTokens, Temperature: body.Temperature,
		Schema: body.ResponseFormat != nil && body.ResponseFormat.Type == "json_schema",
	}
	for _, m := range body.Messages {
		if m.Role == provider.RoleSystem {
			s.System += m.Content
			continue
		}
		if m.Role == "tool" {
			s.Results = append(s.Results, provider.ToolResult{ID: m.ToolCallID, Text: m.Content})
			continue
		}
		s.Turns = append(s.Turns, providertest.Turn{Role: m.Role, Text: m.Content})
		for _, c := range m.ToolCalls {
			s.Calls = append(s.Calls, provider.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: json.RawMessage(c.Function.Arguments)})
		}
	}
	for _, tool := range body.Tools {
		s.Tools = append(s.Tools, tool.Function.Name)
	}
	return s
}

func flush(w io.Writer, text string) {
	_, _ = io.WriteString(w, text)
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}
