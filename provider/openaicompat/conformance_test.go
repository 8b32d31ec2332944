package openaicompat_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/providertest"
)

func TestConformance(t *testing.T) {
	providertest.Run(t, connect)
	providertest.RunAbilities(t, connect)
	providertest.RunThoughts(t, connect)
}

func connect(t *testing.T, s providertest.Scenario) provider.Provider {
	t.Helper()
	server := httptest.NewServer(vendor{s})
	t.Cleanup(server.Close)
	p := openaicompat.Compatible(server.URL+"/v1", s.Key)
	p.Client = server.Client()
	return p
}

// presets are the vendors' settings by the names that fixtures have for the vendors.
func presets() map[string]func(key string) *openaicompat.Provider {
	return map[string]func(key string) *openaicompat.Provider{
		"openai": openaicompat.OpenAI, "openrouter": openaicompat.OpenRouter, "mistral": openaicompat.Mistral, "groq": openaicompat.Groq,
		"deepseek": openaicompat.DeepSeek, "xai": openaicompat.XAI, "moonshot": openaicompat.Moonshot, "gemini": openaicompat.Gemini,
		"snowflake": func(key string) *openaicompat.Provider { return openaicompat.Snowflake("acme", key) },
		"azure":     func(key string) *openaicompat.Provider { return openaicompat.Azure("acme", key) },
		"lmstudio":  func(key string) *openaicompat.Provider { return openaicompat.LMStudio("", key) },
		"vllm":      func(key string) *openaicompat.Provider { return openaicompat.VLLM("", key) },
		"ollama": func(key string) *openaicompat.Provider {
			p := openaicompat.Ollama("")
			p.Key = provider.StaticKey(key)
			return p
		},
	}
}

// preset returns the settings of a vendor, those of any server if it has none.
func preset(vendor string) func(key string) *openaicompat.Provider {
	if p, ok := presets()[vendor]; ok {
		return p
	}
	return func(key string) *openaicompat.Provider { return openaicompat.Compatible("", key) }
}

// TestPresetsConform: each preset speaks the protocol as its server wants it, and loses nothing by that.
func TestPresetsConform(t *testing.T) {
	for name, preset := range presets() {
		t.Run(name, func(t *testing.T) {
			if name != "vllm" && name != "openrouter" {
				longform.Lone(t) // a preset is fields of a provider, whose goroutines are those of the two others
			}
			at := func(t *testing.T, s providertest.Scenario) provider.Provider {
				t.Helper()
				server := httptest.NewServer(vendor{s})
				t.Cleanup(server.Close)
				p := preset(s.Key)
				p.BaseURL, p.Client = server.URL+"/v1", server.Client()
				return p
			}
			providertest.Run(t, at)
			providertest.RunAbilities(t, at)
			providertest.RunThoughts(t, at)
		})
	}
}

// vendor acts a scenario in the protocol's words.
type vendor struct{ providertest.Scenario }

func (v vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	got := sent(r)
	if v.Sent != nil {
		v.Sent(got)
	}
	if v.NoSystem && got.System != "" { // as vLLM says it of Gemma: chat-ui#1386 (2024-08-05)
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"object":"error","message":"System role not supported","type":"BadRequestError","param":null,"code":400}`)
		return
	}
	if v.Alternate && !got.Alternates() { // as vLLM says it: autogen#1037 (2023-12-21)
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"object":"error","message":"Conversation roles must alternate user/assistant/user/assistant/...","type":"BadRequestError","code":400}`)
		return
	}
	if v.Fail != "" && v.Fail != provider.KindInvalidResponse && len(v.Reply) == 0 {
		v.fail(w)
		return
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/models"):
		v.list(w)
		return
	case strings.HasSuffix(r.URL.Path, "/key"): // OpenRouter's
		return
	case strings.Contains(r.URL.Path, "/models/"):
		http.NotFound(w, r)
		return
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, thought := range v.Thoughts {
		v.send(w, map[string]any{"content": nil, "reasoning_content": thought}, "")
	}
	for i, text := range v.Reply {
		v.send(w, map[string]any{"content": text}, "")
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
		flush(w, "data: "+v.failure(signals[v.Fail])+"\n\n")
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
	flush(w, fmt.Sprintf(
		`data: {"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d,"cache_write_tokens":%d},"completion_tokens_details":{"reasoning_tokens":%d}}}`+"\n\ndata: [DONE]\n\n",
		v.Usage.Input, v.Usage.Output, v.Usage.CachedInput, v.Usage.CacheWrite, v.Usage.Reasoning,
	))
}

// annotations names the sources, with places in characters.
func (v vendor) annotations() []any {
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

// list answers with the models.
func (v vendor) list(w http.ResponseWriter) {
	list := []any{}
	for _, id := range v.Models {
		list = append(list, map[string]string{"id": id})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": list})
}

// send writes a chunk. An empty delta is the last one.
func (v vendor) send(w http.ResponseWriter, delta map[string]any, reason string) {
	choice := map[string]any{"index": 0, "delta": delta, "finish_reason": nil}
	if len(delta) == 0 {
		if choice["finish_reason"] = reason; reason == "" {
			choice["finish_reason"] = "stop"
		}
	}
	data, _ := json.Marshal(map[string]any{"model": v.Model, "choices": []any{choice}})
	flush(w, "data: "+string(data)+"\n\n")
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

func (v vendor) failure(s signal) string {
	data, _ := json.Marshal(map[string]any{"error": map[string]any{"message": "not with " + v.Key, "code": s.code}})
	return string(data)
}

func (v vendor) fail(w http.ResponseWriter) {
	s := signals[v.Fail]
	if v.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(v.RetryAfter.Seconds())))
	}
	w.WriteHeader(s.status)
	flush(w, v.failure(s))
}

// sent reads a request back.
func sent(r *http.Request) providertest.Sent {
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
		ResponseFormat *struct{ Type string } `json:"response_format"`
		Tools          []struct{ Function struct{ Name string } }
	}
	data, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(data, &body) != nil {
		return providertest.Sent{}
	}
	s := providertest.Sent{
		Body: data, Header: r.Header, Model: body.Model, MaxTokens: max(body.MaxTokens, body.MaxCompletion), Temperature: body.Temperature,
		Schema: body.ResponseFormat != nil && strings.HasPrefix(body.ResponseFormat.Type, "json_"),
	}
	for _, m := range body.Messages {
		if m.Role == provider.RoleSystem {
			s.System += textOf(m.Content)
			continue
		}
		if m.Role == "tool" {
			s.Results = append(s.Results, provider.ToolResult{ID: m.ToolCallID, Text: textOf(m.Content)})
			continue
		}
		s.Turns = append(s.Turns, providertest.Turn{Role: m.Role, Text: textOf(m.Content)})
		for _, c := range m.ToolCalls {
			s.Calls = append(s.Calls, provider.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: json.RawMessage(c.Function.Arguments)})
		}
	}
	for _, tool := range body.Tools {
		s.Tools = append(s.Tools, tool.Function.Name)
	}
	return s
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
