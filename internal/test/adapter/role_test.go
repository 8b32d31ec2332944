package adapter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/ollama"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

// roleMessage is a message as a chat template sees it.
type roleMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	ID      string          `json:"tool_call_id"` //nolint:tagliatelle // the protocol's name
	Calls   []struct {
		ID       string
		Function struct {
			Name      string
			Arguments json.RawMessage
		}
	} `json:"tool_calls"` //nolint:tagliatelle // likewise
}

// text returns the content of a message that is a string.
func (m *roleMessage) text() (s string) {
	_ = json.Unmarshal(m.Content, &s)
	return s
}

// templates say what is wrong with a conversation; "": nothing is.
var templates = map[string]func(list []roleMessage) string{
	// Mistral's since version 3, and Devstral's: calls and results do not count. autogen#1037 (2023-12-21), autogen#3597 (2024-10).
	"turns": turns,
	// Mistral's own check, as vLLM has it: mistral-vibe#1006 (2026-08-16), onyx#6458.
	"tool": func(list []roleMessage) string {
		for i := range list {
			if i > 0 && list[i].Role == "user" && list[i-1].Role == "tool" {
				return "Unexpected role 'user' after role 'tool'"
			}
		}
		if last := list[len(list)-1].Role; last != "user" && last != "tool" {
			return "Expected last role User or Tool (or Assistant with prefix True) for serving but got " + last
		}
		return ""
	},
	// Gemma's: chat-ui#1386 (2024-08-05), litellm#4377.
	"no system": func(list []roleMessage) string {
		if list[0].Role == "system" {
			return "System role not supported"
		}
		return turns(list)
	},
}

func turns(list []roleMessage) string {
	want := "user"
	for i := range list {
		m := &list[i]
		if m.Role == "system" && i == 0 || m.Role == "tool" || len(m.Calls) > 0 {
			continue
		}
		if m.Role != want {
			return "Conversation roles must alternate user/assistant/user/assistant/..."
		}
		want = map[string]string{"user": "assistant", "assistant": "user"}[want]
	}
	return ""
}

var (
	validName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	validID   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)
)

// wrong says what a strict vendor would refuse of the calls, whatever the template.
func wrong(list []roleMessage) string {
	owed := []string{}
	for i := range list {
		m := &list[i]
		if m.Role == "tool" {
			if len(owed) == 0 || m.ID != owed[0] {
				return "a result without its call: " + m.ID
			}
			owed = owed[1:]
			continue
		}
		if len(owed) > 0 {
			return "a call without its result: " + owed[0]
		}
		if text := m.text(); text != "" && strings.TrimSpace(text) == "" {
			return "text content must contain non-whitespace text"
		}
		for _, c := range m.Calls {
			owed = append(owed, c.ID)
			if !validName.MatchString(c.Function.Name) {
				return "the name has characters that are not allowed: " + c.Function.Name
			}
			if c.ID != "" && !validID.MatchString(c.ID) {
				return "the id is not valid: " + c.ID
			}
		}
	}
	return ""
}

// strict is a server with a model of a strict template. It speaks chat completions, and Ollama's own protocol.
type strict struct {
	template string
	native   bool

	mu      sync.Mutex
	refused []string
	served  int
	fatal   string // what no adapter may send
}

func (s *strict) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body)
	var body struct {
		Messages []roleMessage
		Stream   bool
		Tools    []any
		Format   any
		RF       struct {
			Schema struct{ Schema any } `json:"json_schema"` //nolint:tagliatelle // likewise
		} `json:"response_format"` //nolint:tagliatelle // likewise
	}
	if json.Unmarshal(data, &body) != nil || len(body.Messages) == 0 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if what := wrong(body.Messages); what != "" && s.fatal == "" {
		s.fatal = what
	}
	if what := templates[s.template](body.Messages); what != "" {
		s.refused = append(s.refused, what)
		s.refuse(w, what)
		return
	}
	s.served++
	schema := body.RF.Schema.Schema
	if s.native {
		schema = body.Format
	}
	last := body.Messages[len(body.Messages)-1]
	if _, words, found := strings.Cut(last.text(), "JSON schema:\n"); found && schema == nil {
		_ = json.NewDecoder(strings.NewReader(words)).Decode(&schema)
	}
	text := "Trees cool the street."
	if schema != nil {
		text = marshal(sample(schema, schema))
	}
	used := false
	for i := range body.Messages {
		used = used || body.Messages[i].Role == "tool"
	}
	s.reply(w, text, len(body.Tools) > 0 && !used, body.Stream)
}

func (s *strict) refuse(w http.ResponseWriter, what string) {
	if s.native { // llama.cpp and Ollama report the exception of a template so
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, marshal(object{"error": `{"error":{"code":500,"message":"Jinja Exception: ` + what + `","type":"server_error"}}`}))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(w, marshal(object{"object": "error", "message": what, "type": "BadRequestError", "param": nil, "code": http.StatusBadRequest}))
}

// reply answers with a text, or asks for two tools: one that there is, and one that the model has made up.
func (s *strict) reply(w http.ResponseWriter, text string, call, stream bool) {
	message := object{"role": "assistant", "content": text}
	if call {
		message["content"] = "\n\n"
		message["tool_calls"] = []any{
			object{"index": 0, "id": "functions.read_leaf:0", "type": "function", "function": object{"name": "read_leaf", "arguments": `{"path":"oak"}`}},
			object{"index": 1, "id": strings.Repeat("long-", 20), "type": "function", "function": object{"name": "forest.leaves<|channel|>", "arguments": `[]`}},
		}
	}
	if s.native {
		if call {
			message["tool_calls"] = []any{
				object{"function": object{"name": "read_leaf", "arguments": object{"path": "oak"}}}, object{"function": object{"name": "forest.leaves", "arguments": object{}}},
			}
		}
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = fmt.Fprintln(w, marshal(object{"model": "m", "message": message, "done": true, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 5}))
		return
	}
	reason := "stop"
	if call {
		reason = "tool_calls"
	}
	usage := object{"prompt_tokens": 20, "completion_tokens": 9, "total_tokens": 29}
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, marshal(object{"choices": []any{object{"index": 0, "message": message, "finish_reason": reason}}, "usage": usage}))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", marshal(object{"choices": []any{object{"index": 0, "delta": message, "finish_reason": reason}}, "usage": usage}))
}

// sample returns a value of a schema: the first of an enum, one item of a list, all properties. A list that names people or criteria has one
// item for each of them, and an arbiter completes its work as soon as it may.
func sample(schema, root any) any {
	s := pointed(schema, root)
	if v, ok := s["const"]; ok {
		return v
	}
	if v, ok := s["enum"].([]any); ok && len(v) > 0 {
		for _, one := range v {
			if one == "complete" {
				return one
			}
		}
		return v[0]
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if v, ok := s[keyword].([]any); ok && len(v) > 0 {
			return sample(v[0], root)
		}
	}
	kind, _ := s["type"].(string)
	if list, ok := s["type"].([]any); ok && len(list) > 0 {
		kind, _ = list[0].(string)
	}
	switch kind {
	case "object":
		out := object{}
		properties, _ := s["properties"].(object)
		for name, one := range properties {
			out[name] = sample(one, root)
		}
		switch {
		case out["move"] == "complete":
			out["agents"] = []any{}
		case out["move"] != nil:
			out["summary"] = ""
		case out["success"] != nil: // an agent's result, without changes of the plan
			out["success"] = true
			delete(out, "planUpdates")
		}
		return out
	case "array":
		item := pointed(s["items"], root)
		properties, _ := item["properties"].(object)
		for _, key := range []string{"participant", "criterion"} {
			names, _ := pointed(properties[key], root)["enum"].([]any)
			var all []any
			for _, name := range names {
				if one, ok := sample(item, root).(object); ok {
					one[key] = name
					all = append(all, one)
				}
			}
			if all != nil {
				return all
			}
		}
		return []any{sample(s["items"], root)}
	case "number", "integer":
		if least, ok := s["minimum"].(float64); ok {
			return least
		}
		return 5
	case "boolean":
		return false
	case "null":
		return nil
	}
	return "The bark is thin, and the wood is soft."
}

// pointed returns a schema, or what it refers to.
func pointed(schema, root any) object {
	s, _ := schema.(object)
	ref, ok := s["$ref"].(string)
	if !ok {
		return s
	}
	at := root
	for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		o, _ := at.(object)
		at = o[step]
	}
	return pointed(at, root)
}

// presets are all providers of chat completions, at a server of the test's, and Ollama's own protocol.
func presets(url string) map[string]provider.Provider {
	all := map[string]*openaicompat.Provider{
		"OpenAI": openaicompat.OpenAI(""), "OpenRouter": openaicompat.OpenRouter(""), "Mistral": openaicompat.Mistral(""), "Groq": openaicompat.Groq(""),
		"DeepSeek": openaicompat.DeepSeek(""), "xAI": openaicompat.XAI(""), "Moonshot": openaicompat.Moonshot(""), "Gemini": openaicompat.Gemini(""),
		"Snowflake": openaicompat.Snowflake(url, ""), "Azure": openaicompat.Azure(url+"/v1", ""), "LM Studio": openaicompat.LMStudio("", ""),
		"Ollama": openaicompat.Ollama(""), "vLLM": openaicompat.VLLM("", ""), "Compatible": openaicompat.Compatible(url, ""),
	}
	out := map[string]provider.Provider{"Ollama's own": ollama.New(url)}
	for name, p := range all {
		p.BaseURL = url
		out[name] = p
	}
	return out
}

// conversations are the configs of each flow, with and without tools.
func conversations() map[string]flow.Config {
	const model = "c/grove-7b"
	council := deliberation.Config{
		ID: "d", Problem: "What do we plant?", Rounds: 2, Patience: 3 * time.Second, Judge: deliberation.Judge{Model: model},
		Agents: []deliberation.Agent{{ID: "ada", Model: model}, {ID: "ben", Model: model}},
	}
	equipped := council
	equipped.Tools = []string{"read_leaf"}
	work := arbiter.Config{
		ID: "d", Task: "Plant a tree.", Arbiter: arbiter.Arbiter{Model: model}, Patience: 3 * time.Second,
		Agents: []arbiter.Agent{{Name: "ada", Model: model}, {Name: "ben", Model: model}},
	}
	armed := work
	armed.Agents = []arbiter.Agent{{Name: "ada", Model: model, Tools: []string{"read_leaf"}}, {Name: "ben", Model: model, Tools: []string{"read_leaf"}}}
	return map[string]flow.Config{
		"debate": debate.Config{
			ID: "d", Topic: "Should streets have trees?", Rounds: 3,
			Participants: []debate.Participant{{Name: "Ada", Model: model}, {Name: "Ben", Model: model}, {Name: "Cy", Model: model}},
			Judging:      &debate.Judging{Judges: []debate.JudgeConfig{{Name: "Di", Model: model}}},
		},
		"deliberation": council, "deliberation with a tool": equipped, "arbiter": work, "arbiter with a tool": armed,
	}
}

// TestStrictRoles holds conversations of all flows, with and without tools, with models of strict templates behind each preset. A template's
// refusal is paid for once; nobody has to find a switch.
func TestStrictRoles(t *testing.T) {
	leaf, err := flow.NewTool(flow.ToolInfo{Description: "reads a leaf", ReadOnly: true}, func(context.Context, flow.ToolUse, struct {
		Path string `json:"path"`
	},
	) (string, error) {
		return "green", nil
	})
	require.NoError(t, err)
	held, all := 0, 0
	for template := range templates {
		for name := range presets("") {
			for kind, config := range conversations() {
				t.Run(template+"/"+name+"/"+kind, func(t *testing.T) {
					if name != "vLLM" && name != "Ollama's own" {
						longform.Lone(t) // a preset is fields of a provider, which learns as that of vLLM does
					}
					all++
					s := &strict{template: template, native: name == "Ollama's own"}
					server := httptest.NewServer(s)
					defer server.Close()
					engine := &debate.Engine{
						Providers: map[string]provider.Provider{"c": presets(server.URL)[name]}, SkipModelCheck: true,
						Flows:  map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow(), arbiter.FlowName: arbiter.Flow()},
						Tools:  map[string]flow.Tool{"read_leaf": leaf},
						Logger: slog.New(slog.DiscardHandler),
					}
					failures := 0
					for event, err := range engine.Run(t.Context(), config) {
						require.NoError(t, err)
						if _, failed := event.Body.(*flow.Failure); failed {
							failures++
						}
					}
					record := stage.StoredRecord(t, engine, "d")
					assert.Equal(t, flow.StateCompleted, record.State)
					assert.Zero(t, failures)
					s.mu.Lock()
					assert.Empty(t, s.fatal)
					refused := slices.Clone(s.refused)
					s.mu.Unlock()
					if template == "tool" {
						assert.Empty(t, refused)
					}
					// Calls at the same time are refused at the same time, but none later.
					_, err := engine.Providers["c"].Generate(t.Context(), &provider.Request{
						Model: "grove-7b", System: "You are Ada.", Messages: []provider.Message{{Text: "Trees."}, {Text: "Streets."}}, Last: provider.Message{Text: "Well?"},
					}, func(provider.Chunk) {})
					require.NoError(t, err)
					s.mu.Lock()
					defer s.mu.Unlock()
					for _, again := range s.refused[len(refused):] {
						assert.NotContains(t, refused, again, "a refusal is remembered")
					}
					assert.NoError(t, engine.Shutdown(t.Context()))
					if !t.Failed() {
						held++
					}
				})
			}
		}
	}
	assert.Equal(t, all, held, "of %d conversations", all)
}
