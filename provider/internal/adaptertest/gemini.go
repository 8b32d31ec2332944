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

// Gemini acts a scenario in the words of the Gemini API.
type Gemini struct {
	providertest.Scenario

	// Vertex makes it Vertex AI, and is the place of its models: "projects/debates/locations/global".
	Vertex string
}

// ServeHTTP answers a request.
func (m Gemini) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	models, named := "/v1beta/models/", "/v1beta/models/"
	key, want := r.Header.Get("X-Goog-Api-Key"), m.Key
	if m.Vertex != "" {
		models, named = "/v1beta1/"+m.Vertex+"/publishers/google/models/", "/v1beta1/publishers/google/models/"
		key, want = r.Header.Get("Authorization"), "Bearer "+m.Key
	}
	if key != want {
		m.Fail = provider.KindAuthentication
	}
	path, found := strings.CutPrefix(r.URL.Path, models)
	name, method, _ := strings.Cut(path, ":")
	if !found || method != "streamGenerateContent" {
		m.besides(w, r, named)
		return
	}
	got := m.sent(r, name)
	if m.Sent != nil {
		m.Sent(got)
	}
	if m.NoSystem && got.System != "" { // rig#788 (2025-09-08)
		Refuse(w, &m.Scenario, http.StatusBadRequest, map[string]any{"error": map[string]any{
			"code": 400, "message": "Developer instruction is not enabled for models/gemma-3-27b-it", "status": "INVALID_ARGUMENT",
		}})
		return
	}
	switch fails := Fails(&m.Scenario) && len(m.Reply) == 0; {
	case fails && m.Fail == provider.KindContentFilter:
		m.send(w, map[string]any{"promptFeedback": map[string]any{"blockReason": "SAFETY", "blockReasonMessage": "not with " + m.Key}})
	case fails:
		m.fail(w)
	default:
		m.reply(w, r)
	}
}

func (m Gemini) reply(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, thought := range m.Thoughts {
		m.say(w, "", map[string]any{"text": thought, "thought": true})
	}
	whole := Speak(&m.Scenario, r, func(text string) { m.say(w, "", map[string]any{"text": text}) })
	switch {
	case !whole || m.Cut:
		return
	case Fails(&m.Scenario):
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
	if len(m.Citations) > 0 {
		m.ground(w)
	}
	m.say(w, reason, calls...)
}

// ground sends what the vendor's search has found.
func (m Gemini) ground(w http.ResponseWriter) {
	var chunks, supports []any
	text := strings.Join(m.Reply, "")
	for i, c := range m.Citations {
		chunks = append(chunks, map[string]any{"web": map[string]any{"uri": c.URL, "title": c.Title}})
		segment := map[string]any{"startIndex": c.Start, "endIndex": c.End}
		if c.Start < c.End {
			segment["text"] = text[c.Start:c.End]
		}
		supports = append(supports, map[string]any{"segment": segment, "groundingChunkIndices": []int{i}})
	}
	m.send(w, map[string]any{"candidates": []any{map[string]any{
		"content": map[string]any{"role": "model"}, "groundingMetadata": map[string]any{"groundingChunks": chunks, "groundingSupports": supports},
	}}})
}

// besides describes a model. named is what its path begins with.
func (m Gemini) besides(w http.ResponseWriter, r *http.Request, named string) {
	model, described := strings.CutPrefix(r.URL.Path, named)
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	switch {
	case m.Fail != "":
		m.fail(w)
	case r.Method != http.MethodGet || !described || !slices.Contains(m.Models, model):
		m.Fail = provider.KindValidation
		m.fail(w)
	case m.Vertex != "":
		_ = json.NewEncoder(w).Encode(map[string]any{
			"name": "publishers/google/models/" + model, "versionId": "default", "openSourceCategory": "PROPRIETARY", "launchStage": "GA",
		})
	default:
		_ = json.NewEncoder(w).Encode(map[string]any{
			"name": "models/" + model, "version": "001", "inputTokenLimit": 1048576, "outputTokenLimit": 65536,
			"supportedGenerationMethods": []string{"generateContent", "countTokens"},
		})
	}
}

// say sends an event with parts of the reply, the last one with a reason.
func (m Gemini) say(w http.ResponseWriter, reason string, parts ...map[string]any) {
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

func (Gemini) send(w http.ResponseWriter, event any) {
	data, _ := json.Marshal(event)
	Say(w, fmt.Sprintf("data: %s\r\n\r\n", data))
}

// geminiFault is a failure in the words of the API.
type geminiFault struct {
	code            int
	status, message string
	detail          map[string]any
}

var geminiFaults = map[provider.Kind]geminiFault{
	provider.KindRateLimit: {429, "RESOURCE_EXHAUSTED", "Quota exceeded", nil},
	provider.KindQuota: {429, "RESOURCE_EXHAUSTED", "Quota exceeded", map[string]any{
		"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []any{map[string]string{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}},
	}},
	provider.KindAPI:             {503, "UNAVAILABLE", "The model is overloaded", nil},
	provider.KindTimeout:         {504, "DEADLINE_EXCEEDED", "Deadline expired", nil},
	provider.KindContextOverflow: {400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum number of tokens allowed (8)", nil},
	provider.KindAuthentication: {400, "INVALID_ARGUMENT", "API key not valid", map[string]any{
		"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID",
	}},
	provider.KindValidation: {404, "NOT_FOUND", "no such model", nil},
}

// fault returns the failure that the scenario wants.
func (m Gemini) fault() geminiFault {
	if m.Vertex != "" && m.Fail == provider.KindAuthentication {
		return geminiFault{401, "UNAUTHENTICATED", "Request had invalid authentication credentials", nil}
	}
	return geminiFaults[m.Fail]
}

func (m Gemini) failure() any {
	f := m.fault()
	details := []any{f.detail}
	if m.RetryAfter > 0 {
		details = append(details, map[string]any{
			"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": fmt.Sprintf("%gs", m.RetryAfter.Seconds()),
		})
	}
	return map[string]any{"error": map[string]any{
		"code": f.code, "status": f.status, "message": f.message + ", not with " + m.Key, "details": details,
	}}
}

func (m Gemini) fail(w http.ResponseWriter) {
	document := m.failure()
	m.RetryAfter = 0 // it stands in the document
	Refuse(w, &m.Scenario, m.fault().code, document)
}

// sent reads a request back. model is the one that its path names.
func (Gemini) sent(r *http.Request, model string) providertest.Sent {
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
	config := body.GenerationConfig
	s := providertest.Sent{
		Body: data, Header: r.Header, Model: model, System: join(body.SystemInstruction), MaxTokens: config.MaxOutputTokens,
		Temperature: config.Temperature, Schema: config.ResponseMIMEType == "application/json" && config.ResponseJSONSchema != nil,
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
