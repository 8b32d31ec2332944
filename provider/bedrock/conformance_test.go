package bedrock_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/bedrock"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/providertest"
)

func TestConformance(t *testing.T) {
	providertest.Run(t, connect)
	providertest.RunThoughts(t, connect)
}

func connect(t *testing.T, s providertest.Scenario) provider.Provider {
	t.Helper()
	server := httptest.NewServer(model{s})
	t.Cleanup(server.Close)
	p := bedrock.New(account(s.Key))
	p.BaseURL, p.Client = server.URL, server.Client()
	p.Schemas = func(string) bool { return true }
	return p
}

// account is a config of AWS whose secrets are all the same.
func account(secret string) aws.Config {
	return aws.Config{Region: "eu-central-1", Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: secret, SecretAccessKey: secret, SessionToken: secret}, nil
	})}
}

func TestFaults(t *testing.T) {
	adaptertest.Faults(t, providertest.HTTP{
		Connect: func(_ testing.TB, s providertest.Server) provider.Provider {
			p := bedrock.New(account(s.Key))
			p.BaseURL, p.Client = s.URL, s.Client
			p.IdleTimeout, p.MaxBody, p.MaxLine = s.IdleTimeout, s.MaxBody, s.MaxLine
			return p
		},
		Wholes: wholes(t),
		Faults: faults(t),
		NoSignal: map[string]string{
			"slow-down":        "too steep a rise is a throttlingException as any other",
			"budget-in-flight": "AWS bills afterwards",
			"moderation":       "its 403 is a matter of permissions, and a guardrail that blocks a prompt ends a reply",
			"comments":         "frames have no comments",
		},
	})
}

// model acts a scenario in the API's words. It knows every model.
type model struct{ providertest.Scenario }

func (m model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="+m.Key+"/") || r.Header.Get("X-Amz-Security-Token") != m.Key {
		m.Fail = provider.KindAuthentication
	}
	_, operation := operation(r)
	body, _ := io.ReadAll(r.Body)
	if operation != "converse-stream" {
		m.Fail = provider.KindValidation
		m.fail(w)
		return
	}
	request := read(r, body)
	if m.Sent != nil {
		m.Sent(request)
	}
	if m.NoSystem && request.System != "" { // anything-llm#2486 (2024-10-16)
		w.Header().Set("X-Amzn-Errortype", "ValidationException")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"message":"This model doesn't support system messages. Try again without a system message or use a model that supports system messages."}`)
		return
	}
	failing := adaptertest.Fails(&m.Scenario)
	if failing && len(m.Reply) == 0 {
		m.fail(w)
		return
	}
	w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	say := func(kind string, data any) {
		encoded, _ := json.Marshal(data)
		_, _ = w.Write(frame(kind, string(encoded)))
		w.(http.Flusher).Flush()
	}
	say("messageStart", map[string]any{"p": "abc", "role": "assistant"})
	spoken := adaptertest.Speak(&m.Scenario, r, func(text string) {
		say("contentBlockDelta", map[string]any{"contentBlockIndex": 0, "delta": map[string]string{"text": text}, "p": "ab"})
	})
	if !spoken || m.Cut {
		return
	}
	if failing {
		_, _ = w.Write(exception(signals[m.Fail].code, signals[m.Fail].message+", not with "+m.Key))
		return
	}
	say("contentBlockStop", map[string]int{"contentBlockIndex": 0})
	for i, c := range m.Calls {
		at := 2*i + 1
		say("contentBlockDelta", map[string]any{"contentBlockIndex": at, "delta": map[string]any{"reasoningContent": map[string]string{"text": "Hm."}}})
		say("contentBlockDelta", map[string]any{"contentBlockIndex": at, "delta": map[string]any{"reasoningContent": map[string]string{"signature": "Eu" + c.ID}}})
		say("contentBlockStop", map[string]int{"contentBlockIndex": at})
		say("contentBlockStart", map[string]any{"contentBlockIndex": at + 1, "start": map[string]any{"toolUse": map[string]string{"toolUseId": c.ID, "name": c.Name}}})
		half := len(c.Arguments) / 2
		for _, part := range []json.RawMessage{c.Arguments[:half], c.Arguments[half:]} {
			say("contentBlockDelta", map[string]any{"contentBlockIndex": at + 1, "delta": map[string]any{"toolUse": map[string]string{"input": string(part)}}})
		}
		say("contentBlockStop", map[string]int{"contentBlockIndex": at + 1})
	}
	stop := map[provider.StopReason]string{
		provider.StopEnd: "end_turn", provider.StopLength: "max_tokens", provider.StopTool: "tool_use",
		provider.StopRefusal: "refusal", provider.StopFilter: "content_filtered",
	}[m.Stop]
	say("messageStop", map[string]string{"stopReason": stop})
	say("metadata", map[string]any{"metrics": map[string]int{"latencyMs": 522}, "usage": map[string]int{
		"inputTokens":          m.Usage.Input - m.Usage.CachedInput - m.Usage.CacheWrite,
		"cacheReadInputTokens": m.Usage.CachedInput, "cacheWriteInputTokens": m.Usage.CacheWrite,
		"outputTokens": m.Usage.Output, "totalTokens": m.Usage.Input + m.Usage.Output,
	}})
}

type signal struct {
	status        int
	code, message string
}

var signals = map[provider.Kind]signal{
	provider.KindRateLimit:       {429, "throttlingException", "Too many requests, please wait before trying again."},
	provider.KindQuota:           {429, "throttlingException", "Too many tokens per day, please wait before trying again."},
	provider.KindAPI:             {503, "serviceUnavailableException", "The service is not there"},
	provider.KindTimeout:         {408, "modelTimeoutException", "The model took too long"},
	provider.KindContextOverflow: {400, "validationException", "Input is too long for requested model."},
	provider.KindAuthentication:  {403, "accessDeniedException", "No access to the model"},
	provider.KindContentFilter:   {400, "validationException", "Output blocked by content filtering policy"},
	provider.KindValidation:      {400, "validationException", "The provided model identifier is invalid."},
}

func (m model) fail(w http.ResponseWriter) {
	s := signals[m.Fail]
	w.Header().Set("X-Amzn-Errortype", strings.ToUpper(s.code[:1])+s.code[1:]+":http://internal.amazon.com/coral/com.amazon.bedrock/")
	adaptertest.Refuse(w, &m.Scenario, s.status, map[string]string{"message": s.message + ", not with " + m.Key})
}

// operation returns the model and the operation that the path of a request names.
func operation(r *http.Request) (model, operation string) {
	parts := strings.Split(r.URL.EscapedPath(), "/")
	if len(parts) != 4 || parts[1] != "model" {
		return "", ""
	}
	model, _ = url.PathUnescape(parts[2])
	return model, parts[3]
}

// read reads a request back.
func read(r *http.Request, data []byte) providertest.Sent {
	type block struct {
		Text    string
		ToolUse *struct {
			ToolUseID, Name string
			Input           json.RawMessage
		}
		ToolResult *struct {
			ToolUseID, Status string
			Content           []struct{ Text string }
		}
		ReasoningContent *struct {
			ReasoningText struct{ Text, Signature string }
		}
	}
	var body struct {
		Messages []struct {
			Role    provider.Role
			Content []block
		}
		System          []block
		InferenceConfig struct {
			MaxTokens   int
			Temperature *float64
		}
		ToolConfig struct {
			Tools []struct{ ToolSpec struct{ Name string } }
		}
		OutputConfig struct{ TextFormat struct{ Type string } }
	}
	name, _ := operation(r)
	if json.Unmarshal(data, &body) != nil {
		return providertest.Sent{}
	}
	join := func(blocks []block) string {
		var texts []string
		for _, b := range blocks {
			texts = append(texts, b.Text)
		}
		return strings.Join(texts, "\n")
	}
	s := providertest.Sent{
		Body: data, Header: r.Header,
		Model: name, System: strings.TrimSpace(join(body.System)), MaxTokens: body.InferenceConfig.MaxTokens,
		Temperature: body.InferenceConfig.Temperature, Schema: body.OutputConfig.TextFormat.Type == "json_schema",
	}
	var thoughts []any
	for _, m := range body.Messages {
		s.Turns = append(s.Turns, providertest.Turn{Role: m.Role, Text: join(m.Content)})
		for _, b := range m.Content {
			switch {
			case b.ReasoningContent != nil:
				thoughts = append(thoughts, map[string]string{"text": b.ReasoningContent.ReasoningText.Text, "signature": b.ReasoningContent.ReasoningText.Signature})
			case b.ToolUse != nil:
				call := provider.ToolCall{ID: b.ToolUse.ToolUseID, Name: b.ToolUse.Name, Arguments: b.ToolUse.Input}
				if len(thoughts) > 0 {
					call.Opaque, _ = json.Marshal(map[string]any{"host": r.Host, "model": name, "kept": map[string]any{"thoughts": thoughts}})
				}
				s.Calls, thoughts = append(s.Calls, call), nil
			case b.ToolResult != nil:
				s.Results = append(s.Results, provider.ToolResult{ID: b.ToolResult.ToolUseID, Text: b.ToolResult.Content[0].Text, Error: b.ToolResult.Status == "error"})
			}
		}
	}
	for _, t := range body.ToolConfig.Tools {
		s.Tools = append(s.Tools, t.ToolSpec.Name)
	}
	return s
}
