package vertex_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
	"github.com/agonist-dev/debate/provider/vertex"
)

// place is where the models of these tests are.
const place = "projects/debates/locations/global"

func TestConformance(t *testing.T) {
	t.Run("gemini", func(t *testing.T) {
		providertest.Run(t, gemini)
		providertest.RunAbilities(t, gemini)
		providertest.RunThoughts(t, gemini)
	})
	t.Run("claude", func(t *testing.T) {
		providertest.Run(t, claude)
		providertest.RunAbilities(t, claude)
		providertest.RunThoughts(t, claude)
	})
}

func gemini(t *testing.T, s providertest.Scenario) provider.Provider {
	t.Helper()
	if s.Stop == provider.StopRefusal {
		t.Skip("a model that declines says so in its text")
	}
	server := httptest.NewServer(model{s})
	t.Cleanup(server.Close)
	p := at(server.URL, s.Key, server.Client())
	return p
}

// at returns a provider for a server, with a token.
func at(url, token string, client *http.Client) *vertex.Provider {
	p := vertex.New("debates", "global", provider.StaticKey(token))
	p.Gemini.BaseURL, p.Claude.BaseURL = url, url
	p.Gemini.Client, p.Claude.Client = client, client
	return p
}

// model acts a scenario in the API's words.
type model struct{ providertest.Scenario }

func (m model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+m.Key {
		m.Fail = provider.KindAuthentication
	}
	if !strings.HasPrefix(r.URL.Path, "/v1beta1/"+place+"/publishers/google/models/") || !strings.HasSuffix(r.URL.Path, ":streamGenerateContent") {
		m.besides(w, r)
		return
	}
	got := read(r)
	if m.Sent != nil {
		m.Sent(got)
	}
	if m.NoSystem && got.System != "" { // rig#788 (2025-09-08)
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"code":400,"message":"Developer instruction is not enabled for this model","status":"INVALID_ARGUMENT"}}`)
		return
	}
	fails := m.Fail != "" && m.Fail != provider.KindInvalidResponse
	switch {
	case fails && len(m.Reply) == 0 && m.Fail == provider.KindContentFilter:
		m.send(w, map[string]any{"promptFeedback": map[string]any{"blockReason": "SAFETY", "blockReasonMessage": "not with " + m.Key}})
		return
	case fails && len(m.Reply) == 0:
		m.fail(w)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for i, text := range m.Reply {
		m.say(w, "", map[string]any{"text": text})
		if i == 0 && m.Hold != nil {
			select {
			case <-m.Hold:
			case <-r.Context().Done():
				return
			}
		}
	}
	if m.Cut {
		return
	}
	if fails {
		m.send(w, m.failure())
		return
	}
	var calls []map[string]any
	for i, c := range m.Calls {
		call := map[string]any{"functionCall": map[string]any{"id": c.ID, "name": c.Name, "args": c.Arguments}}
		if i == 0 { // of calls at once, the first is signed
			call["thoughtSignature"] = []byte("sealed")
		}
		calls = append(calls, call)
	}
	reason := map[provider.StopReason]string{provider.StopLength: "MAX_TOKENS", provider.StopFilter: "SAFETY"}[m.Stop]
	if reason == "" {
		reason = "STOP"
	}
	m.say(w, reason, calls...)
}

// besides answers what a model is asked beside a reply.
func (m model) besides(w http.ResponseWriter, r *http.Request) {
	if m.Fail != "" {
		m.fail(w)
		return
	}
	described := strings.TrimPrefix(r.URL.Path, "/v1beta1/publishers/google/models/")
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	if r.Method == http.MethodGet && slices.Contains(m.Models, described) {
		_ = json.NewEncoder(w).Encode(map[string]any{
			"name": "publishers/google/models/" + described, "versionId": "default", "openSourceCategory": "PROPRIETARY", "launchStage": "GA",
		})
		return
	}
	m.Fail = provider.KindValidation
	m.fail(w)
}

func (m model) fail(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(signals[m.Fail].code)
	_ = json.NewEncoder(w).Encode(m.failure())
}

// say sends an event with parts of the reply, the last one with a reason.
func (m model) say(w http.ResponseWriter, reason string, parts ...map[string]any) {
	candidate := map[string]any{"content": map[string]any{"parts": parts, "role": "model"}, "index": 0}
	answer := map[string]any{"candidates": []any{candidate}, "modelVersion": m.Model, "responseId": "r-1"}
	usage := map[string]int{"promptTokenCount": m.Usage.Input}
	if reason != "" {
		candidate["finishReason"] = reason
		usage["candidatesTokenCount"] = m.Usage.Output - m.Usage.Reasoning
		usage["thoughtsTokenCount"] = m.Usage.Reasoning
		usage["cachedContentTokenCount"] = m.Usage.CachedInput
	}
	answer["usageMetadata"] = usage
	m.send(w, answer)
}

func (m model) send(w http.ResponseWriter, event any) {
	data, _ := json.Marshal(event)
	_, _ = fmt.Fprintf(w, "data: %s\r\n\r\n", data)
	w.(http.Flusher).Flush()
}

type signal struct {
	code            int
	status, message string
	detail          map[string]any
}

var signals = map[provider.Kind]signal{
	provider.KindRateLimit: {429, "RESOURCE_EXHAUSTED", "Quota exceeded", nil},
	provider.KindQuota: {429, "RESOURCE_EXHAUSTED", "Quota exceeded", map[string]any{
		"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []any{map[string]string{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}},
	}},
	provider.KindAPI:             {503, "UNAVAILABLE", "The model is overloaded", nil},
	provider.KindTimeout:         {504, "DEADLINE_EXCEEDED", "Deadline expired", nil},
	provider.KindContextOverflow: {400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum number of tokens allowed (8)", nil},
	provider.KindAuthentication:  {401, "UNAUTHENTICATED", "Request had invalid authentication credentials", nil},
	provider.KindValidation:      {404, "NOT_FOUND", "no such model", nil},
}

func (m model) failure() any {
	s := signals[m.Fail]
	details := []any{s.detail}
	if m.RetryAfter > 0 {
		details = append(details, map[string]any{
			"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": fmt.Sprintf("%gs", m.RetryAfter.Seconds()),
		})
	}
	return map[string]any{"error": map[string]any{
		"code": s.code, "status": s.status, "message": s.message + ", not with " + m.Key, "details": details,
	}}
}

// read reads a request back.
func read(r *http.Request) providertest.Sent {
	type content struct {
		Role  string
		Parts []struct {
			Text         string
			FunctionCall *struct {
				ID, Name string
				Args     json.RawMessage
			}
			FunctionResponse *struct {
				ID       string
				Response struct{ Output, Error string }
			}
			ThoughtSignature []byte
		}
	}
	var body struct {
		SystemInstruction content
		Contents          []content
		Tools             []struct{ FunctionDeclarations []struct{ Name string } }
		GenerationConfig  struct {
			MaxOutputTokens    int
			Temperature        *float64
			ResponseMIMEType   string `json:"responseMimeType"`
			ResponseJSONSchema any    `json:"responseJsonSchema"`
		}
	}
	data, _ := io.ReadAll(r.Body)
	if json.Unmarshal(data, &body) != nil {
		return providertest.Sent{}
	}
	join := func(c content) string {
		var b strings.Builder
		for _, p := range c.Parts {
			b.WriteString(p.Text)
		}
		return b.String()
	}
	name := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/v1beta1/"+place+"/publishers/google/models/"), ":streamGenerateContent")
	config := body.GenerationConfig
	s := providertest.Sent{
		Body: data, Header: r.Header,
		Model: name, System: join(body.SystemInstruction), MaxTokens: config.MaxOutputTokens, Temperature: config.Temperature,
		Schema: config.ResponseMIMEType == "application/json" && config.ResponseJSONSchema != nil,
	}
	for _, c := range body.Contents {
		role := provider.RoleUser
		if c.Role == "model" {
			role = provider.RoleAssistant
		}
		s.Turns = append(s.Turns, providertest.Turn{Role: role, Text: join(c)})
		for _, p := range c.Parts {
			if f := p.FunctionCall; f != nil {
				kept := map[string]any{"id": f.ID}
				if len(p.ThoughtSignature) > 0 {
					kept["signature"] = p.ThoughtSignature
				}
				data, _ := json.Marshal(map[string]any{"host": r.Host, "kept": kept})
				s.Calls = append(s.Calls, provider.ToolCall{ID: f.ID, Name: f.Name, Arguments: f.Args, Opaque: data})
			}
			if f := p.FunctionResponse; f != nil {
				s.Results = append(s.Results, provider.ToolResult{
					ID: f.ID, Text: f.Response.Output + f.Response.Error, Error: f.Response.Error != "",
				})
			}
		}
	}
	for _, tool := range body.Tools {
		for _, f := range tool.FunctionDeclarations {
			s.Tools = append(s.Tools, f.Name)
		}
	}
	return s
}
