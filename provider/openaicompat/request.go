package openaicompat

import (
	"bytes"
	"encoding/json"
	"maps"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

type wireRequest struct {
	Model               string          `json:"model"`
	Messages            []wireMessage   `json:"messages"`
	Stream              bool            `json:"stream"`
	StreamOptions       *streamOptions  `json:"stream_options,omitempty"`
	MaxCompletionTokens int             `json:"max_completion_tokens,omitempty"`
	MaxTokens           int             `json:"max_tokens,omitempty"`
	Temperature         *float64        `json:"temperature,omitempty"`
	ResponseFormat      *responseFormat `json:"response_format,omitempty"`
	Tools               []wireTool      `json:"tools,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type wireMessage struct {
	Role       string         `json:"role"`
	Content    *string        `json:"content"`
	ToolCalls  []wireToolCall `json:"tool_calls,omitempty"`
	ToolCallID string         `json:"tool_call_id,omitempty"`
}

type wireToolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name        string          `json:"name"`
	Arguments   string          `json:"arguments,omitempty"`   // of a call: JSON in a string
	Description string          `json:"description,omitempty"` // of a tool
	Parameters  json.RawMessage `json:"parameters,omitempty"`  // of a tool
}

type wireTool struct {
	Type     string       `json:"type"`
	Function wireFunction `json:"function"`
}

type responseFormat struct {
	Type   string      `json:"type"`
	Schema *jsonSchema `json:"json_schema,omitempty"`
}

type jsonSchema struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

// encode writes the request's body.
func (p *Provider) encode(req *provider.Request) ([]byte, error) {
	w := wireRequest{
		Model:       req.Model,
		Messages:    messages(req),
		Stream:      true,
		Temperature: req.Temperature,
	}
	if !p.NoStreamOptions {
		w.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	if p.MaxCompletionTokens {
		w.MaxCompletionTokens = req.MaxTokens
	} else {
		w.MaxTokens = req.MaxTokens
	}
	switch {
	case req.Schema == nil:
	case p.SchemaOrTools && len(req.Tools) > 0:
		w.Messages = instructed(w.Messages, req.Schema)
	case p.JSONObject:
		w.ResponseFormat = &responseFormat{Type: "json_object"}
		w.Messages = instructed(w.Messages, req.Schema)
	default:
		w.ResponseFormat = &responseFormat{Type: "json_schema", Schema: lower(req.Schema)}
	}
	if w.ResponseFormat != nil && p.WholeSchema {
		w.Stream, w.StreamOptions = false, nil
	}
	w.Messages = p.arrange(w.Messages)
	w.Tools = tools(req.Tools)
	body, err := wire.Body(&w)
	if err != nil || len(p.Extra) == 0 {
		return body, err
	}
	w.Messages = nil // only the fields' names are needed, not the whole conversation once more
	names, err := wire.Body(&w)
	if err != nil {
		return nil, err
	}
	var named map[string]json.RawMessage
	if err := json.Unmarshal(names, &named); err != nil {
		return nil, err
	}
	more := maps.Clone(p.Extra)
	maps.DeleteFunc(more, func(name string, _ any) bool { return named[name] != nil })
	if len(more) == 0 {
		return body, nil
	}
	extra, err := wire.Body(more)
	if err != nil {
		return nil, err
	}
	body = bytes.TrimRight(body, "\n")
	return append(append(body[:len(body)-1], ','), bytes.TrimLeft(extra, "{")...), nil
}

// instructed adds a schema to the conversation as text.
func instructed(messages []wireMessage, s *provider.Schema) []wireMessage {
	text := "Reply with one JSON object and nothing else. It must match this JSON schema:\n" + string(s.JSON)
	if n := len(messages) - 1; n >= 0 && messages[n].Role == string(provider.RoleUser) && messages[n].Content != nil {
		text = *messages[n].Content + "\n\n" + text
		messages = messages[:n]
	}
	return append(messages, wireMessage{Role: string(provider.RoleUser), Content: &text})
}

func lower(s *provider.Schema) *jsonSchema {
	j := &jsonSchema{Name: s.Name, Schema: s.JSON}
	if j.Name == "" {
		j.Name = "reply"
	}
	if strict, ok := StrictSchema(s.JSON); ok {
		j.Schema, j.Strict = strict, true
	}
	return j
}
