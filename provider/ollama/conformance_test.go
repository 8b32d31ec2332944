package ollama_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/ollama"
	"github.com/agonist-dev/debate/provider/providertest"
)

func TestConformance(t *testing.T) {
	providertest.Run(t, connect)
	providertest.RunAbilities(t, connect)
	providertest.RunThoughts(t, connect)
}

func connect(t *testing.T, s providertest.Scenario) provider.Provider {
	t.Helper()
	switch {
	case s.Stop == provider.StopRefusal, s.Stop == provider.StopFilter, s.Fail == provider.KindContentFilter:
		t.Skip("Ollama knows no refusals and no filter")
	}
	server := httptest.NewServer(vendor{s})
	t.Cleanup(server.Close)
	p := ollama.New(server.URL)
	p.Key, p.Client = provider.StaticKey(s.Key), server.Client()
	return p
}

func TestFaults(t *testing.T) {
	adaptertest.Faults(t, providertest.HTTP{
		Connect: func(_ testing.TB, s providertest.Server) provider.Provider {
			p := ollama.New(s.URL)
			p.Key, p.Client = provider.StaticKey(s.Key), s.Client
			p.IdleTimeout, p.MaxBody, p.MaxLine = s.IdleTimeout, s.MaxBody, s.MaxLine
			p.NumCtx = 4096
			return p
		},
		NoSignal: map[string]string{
			"slow-down":        "Ollama has no word for it besides 429",
			"budget-in-flight": "Ollama takes no budget in advance",
			"moderation":       "Ollama moderates nothing",
			"refusal":          "Ollama does not tell a refusal from another text",
			"content-filter":   "Ollama has no filter",
			"comments":         "lines of JSON have no comments",
		},
	})
}

// What is sent to /api/chat is what Ollama describes, and nothing else.
func TestRequestsAreAsPublished(t *testing.T) {
	adaptertest.Published(t, "ollama.json", "ChatRequest", "*.json")
}

// vendor acts a scenario in the API's words.
type vendor struct{ providertest.Scenario }

func (v vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method + " " + r.URL.Path {
	case "POST /api/chat":
	case "POST /api/show":
		v.show(w, r)
		return
	default:
		http.NotFound(w, r)
		return
	}
	got := sent(r)
	if v.Sent != nil {
		v.Sent(got)
	}
	if v.NoSystem && got.System != "" { // in the form of mistral-vibe#1006 (2026-08-16)
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, `{"error":"{\"error\":{\"code\":500,\"message\":\"Jinja Exception: System role not supported\",\"type\":\"server_error\"}}"}`)
		return
	}
	failing := adaptertest.Fails(&v.Scenario)
	if failing && len(v.Reply) == 0 {
		v.fail(w)
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	for _, thought := range v.Thoughts {
		v.line(w, map[string]any{"message": map[string]any{"role": "assistant", "content": "", "thinking": thought}, "done": false})
	}
	whole := adaptertest.Speak(&v.Scenario, r, func(text string) {
		v.line(w, map[string]any{"message": map[string]any{"role": "assistant", "content": text}, "done": false})
	})
	switch {
	case !whole || v.Cut:
		return
	case failing:
		v.line(w, map[string]any{"error": "not with " + v.Key})
		return
	}
	for i, c := range v.Calls {
		v.line(w, map[string]any{"done": false, "message": map[string]any{"role": "assistant", "content": "", "tool_calls": []any{
			map[string]any{"id": c.ID, "function": map[string]any{"index": i, "name": c.Name, "arguments": c.Arguments}},
		}}})
	}
	reason := "stop"
	if v.Stop == provider.StopLength {
		reason = "length"
	}
	v.line(w, map[string]any{
		"message": map[string]any{"role": "assistant", "content": ""}, "done": true, "done_reason": reason,
		"prompt_eval_count": v.Usage.Input, "prompt_eval_cached_count": v.Usage.CachedInput, "eval_count": v.Usage.Output,
	})
}

// show describes a model.
func (v vendor) show(w http.ResponseWriter, r *http.Request) {
	var body struct{ Model string }
	known := json.NewDecoder(r.Body).Decode(&body) == nil && slices.Contains(v.Models, body.Model)
	switch {
	case v.Fail != "":
		v.fail(w)
	case known:
		_ = json.NewEncoder(w).Encode(map[string]any{
			"modelfile": "FROM x", "details": map[string]string{"format": "gguf", "family": "llama"},
			"model_info": map[string]any{"llama.context_length": 8192}, "capabilities": []string{"completion", "tools"},
		})
	default:
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": "model '" + body.Model + "' not found"})
	}
}

func (v vendor) line(w http.ResponseWriter, fields map[string]any) {
	if v.Model != "" {
		fields["model"] = v.Model
	}
	_ = json.NewEncoder(w).Encode(fields)
	_ = http.NewResponseController(w).Flush()
}

// fail answers as the server, its runner or ollama.com would.
func (v vendor) fail(w http.ResponseWriter) {
	said := map[provider.Kind]struct {
		status int
		text   string
	}{
		provider.KindRateLimit:      {429, "too many concurrent requests"},
		provider.KindQuota:          {429, "you have reached your weekly usage limit"},
		provider.KindAPI:            {500, "model runner has unexpectedly stopped"},
		provider.KindTimeout:        {504, "upstream timeout"},
		provider.KindAuthentication: {401, "unauthorized"},
		provider.KindValidation:     {404, "model 'model-1' not found"},
		provider.KindContextOverflow: {
			400, `{"error":{"code":400,"message":"request (351 tokens) exceeds the available context size","type":"exceed_context_size_error"}}`,
		},
	}[v.Fail]
	if v.Fail != provider.KindContextOverflow {
		said.text += ", not with " + v.Key
	}
	adaptertest.Refuse(w, &v.Scenario, said.status, map[string]string{"error": said.text})
}

// sent reads a request back.
func sent(r *http.Request) providertest.Sent {
	var body struct {
		Model    string
		Messages []struct {
			Role       provider.Role
			Content    string
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string
				Function struct {
					Name      string
					Arguments json.RawMessage
				}
			} `json:"tool_calls"`
		}
		Format  json.RawMessage
		Tools   []struct{ Function struct{ Name string } }
		Options struct {
			NumPredict  int `json:"num_predict"`
			Temperature *float64
		}
	}
	data, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(data, &body) != nil {
		return providertest.Sent{}
	}
	s := providertest.Sent{
		Body: data, Header: r.Header, Model: body.Model, MaxTokens: body.Options.NumPredict, Temperature: body.Options.Temperature,
		Schema: len(body.Format) > 0 && body.Format[0] == '{',
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
			s.Calls = append(s.Calls, provider.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
		}
	}
	for _, tool := range body.Tools {
		s.Tools = append(s.Tools, tool.Function.Name)
	}
	return s
}
