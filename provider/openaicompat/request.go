package openaicompat

import (
	"encoding/json"
	"strings"

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
	Content    any            `json:"content"` // text alone, or parts and text
	ToolCalls  []wireToolCall `json:"tool_calls,omitempty"`
	ToolCallID string         `json:"tool_call_id,omitempty"`

	Thoughts *string         `json:"reasoning_content,omitempty"`
	Details  json.RawMessage `json:"reasoning_details,omitempty"`
	text     *string
	parts    []wirePart // before the text
}

type wireToolCall struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Function wireFunction    `json:"function"`
	Extra    json.RawMessage `json:"extra_content,omitempty"`
}

type wireFunction struct {
	Name        string          `json:"name"`
	Arguments   string          `json:"arguments,omitempty"`   // of a call: JSON in a string
	Description string          `json:"description,omitempty"` // of a tool
	Parameters  json.RawMessage `json:"parameters,omitempty"`  // of a tool
}

type wireTool struct {
	Type     string        `json:"type"`
	Function *wireFunction `json:"function,omitempty"`
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

// encode writes the request's body. Its failures are [*provider.Error] with NotSent.
func (p *Provider) encode(req *provider.Request, t *wire.Terms) ([]byte, error) {
	d := p.dialect(req.Model)
	if err := p.vet(req, &d); err != nil {
		return nil, err
	}
	own, err := d.fields(req.Options)
	if err != nil {
		return nil, err
	}
	format := p.format(req, len(req.Tools) > 0 || d.searches(req), t)
	if req.Schema != nil && (format == nil || format.Schema == nil) {
		inWords := *req
		inWords.Last.Text = SchemaInWords(req.Last.Text, req.Schema)
		req = &inWords
	}
	if req, err = p.form(req.Model, t).Request(req); err != nil {
		return nil, err
	}
	w := wireRequest{
		Model:          req.Model,
		Messages:       p.messages(req, &d, t),
		Stream:         true,
		Temperature:    req.Temperature,
		ResponseFormat: format,
		Tools:          d.tools(req),
	}
	if !p.NoStreamOptions {
		w.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	if p.MaxCompletionTokens {
		w.MaxCompletionTokens = req.MaxTokens
	} else {
		w.MaxTokens = req.MaxTokens
	}
	if w.ResponseFormat != nil && p.WholeSchema || t.Leaves(optionStream) {
		w.Stream, w.StreamOptions = false, nil
	}
	p.fill(w.Messages, len(req.Tools) > 0)
	for i := range w.Messages {
		w.Messages[i].Content = w.Messages[i].content()
	}
	return p.extended(&w, own, req.Options)
}

// SchemaInWords returns an instruction with a schema as text after it, for a server that takes no schema.
func SchemaInWords(instruction string, s *provider.Schema) string {
	text := "Reply with one JSON object and nothing else. It must match this JSON schema:\n" + string(s.JSON)
	if instruction != "" {
		text = instruction + "\n\n" + text
	}
	return text
}

// format returns the format of a reply with a schema, as far as the server takes one: a strict schema, one that
// is not strict, JSON of any form. nil: none.
func (p *Provider) format(req *provider.Request, tools bool, t *wire.Terms) *responseFormat {
	switch {
	case req.Schema == nil, p.SchemaOrTools && tools, t.Leaves(optionFormat):
		return nil
	case p.JSONObject, t.Leaves(optionSchema):
		return &responseFormat{Type: "json_object"}
	}
	j := &jsonSchema{Name: req.Schema.Name, Schema: req.Schema.JSON}
	if j.Name == "" {
		j.Name = "reply"
	}
	keep := OpenAIBounds
	if p.NoBounds || strings.HasPrefix(req.Model, "ft:") || t.Leaves(optionBounds) {
		keep = nil
	}
	if strict, ok := StrictSchema(req.Schema.JSON, keep); ok && !t.Leaves(optionStrict) {
		j.Schema, j.Strict = strict, true
	}
	return &responseFormat{Type: "json_schema", Schema: j}
}
