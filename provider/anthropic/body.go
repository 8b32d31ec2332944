package anthropic

import "encoding/json"

// request is the body of a request.
type request struct {
	MaxTokens     int64           `json:"max_tokens"`
	Messages      []any           `json:"messages"`        // turn, and continuation
	Model         string          `json:"model,omitempty"` // on Vertex AI it is part of the path
	Temperature   *float64        `json:"temperature,omitempty"`
	TopP          *float64        `json:"top_p,omitempty"`
	ServiceTier   string          `json:"service_tier,omitempty"`
	OutputConfig  outputConfig    `json:"output_config,omitzero"`
	StopSequences []string        `json:"stop_sequences,omitempty"`
	System        []content       `json:"system,omitempty"`
	Thinking      *thinkingOption `json:"thinking,omitempty"`
	Tools         []tool          `json:"tools,omitempty"`
	Stream        bool            `json:"stream"`
	Version       string          `json:"anthropic_version,omitempty"` // on Vertex AI
}

// outputConfig is how the reply is made, and in which form.
type outputConfig struct {
	Effort string      `json:"effort,omitempty"`
	Format *jsonFormat `json:"format,omitempty"`
}

// jsonFormat is the format of a reply that matches a schema, which keeps the order of its properties: models write in it.
type jsonFormat struct {
	Type   string          `json:"type"` // "json_schema"
	Schema json.RawMessage `json:"schema"`
}

// thinkingOption asks for thinking, or switches it off.
type thinkingOption struct {
	BudgetTokens int64  `json:"budget_tokens,omitempty"`
	Display      string `json:"display,omitempty"`
	Type         string `json:"type"`
}

// thinks reports whether the model is asked to think.
func (o *thinkingOption) thinks() bool {
	return o != nil && (o.Type == thinkingAdaptive || o.Type == thinkingEnabled)
}

// The types of thinking that this package names itself.
const (
	thinkingAdaptive = "adaptive"
	thinkingEnabled  = "enabled"
)

// The roles of the API.
const (
	user      = "user"
	assistant = "assistant"
)

// turn is a message of the conversation.
type turn struct {
	Content []content `json:"content"`
	Role    string    `json:"role"`
}

// continuation is the beginning of a reply that the vendor has paused, as it came.
type continuation struct {
	Content []json.RawMessage `json:"content"`
	Role    string            `json:"role"` // "assistant"
}

// The types of blocks.
const (
	typeText     = "text"
	typeThinking = "thinking"
	typeRedacted = "redacted_thinking"
	typeToolUse  = "tool_use"
)

// content is a block of a message. Its type says which fields it has.
type content struct {
	Text         string          `json:"text,omitempty"`
	Signature    *string         `json:"signature,omitempty"`
	Thinking     *string         `json:"thinking,omitempty"` // may be empty, and must be there
	Data         string          `json:"data,omitempty"`     // of a thought that nobody can read
	ID           string          `json:"id,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	Name         string          `json:"name,omitempty"`
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	IsError      bool            `json:"is_error,omitempty"`
	Source       *source         `json:"source,omitempty"`
	Title        string          `json:"title,omitempty"`
	CacheControl *cacheMark      `json:"cache_control,omitempty"`
	Content      []content       `json:"content,omitempty"` // of a result
	Type         string          `json:"type"`
}

// said is a block of text.
func said(text string) content { return content{Text: text, Type: typeText} }

// source is the bytes of an image or a document: a text as it is, anything else in base64.
type source struct {
	Data      string `json:"data"`
	MediaType string `json:"media_type"`
	Type      string `json:"type"` // "base64" or "text"
}

// cacheMark says that the vendor's cache keeps the request up to here.
type cacheMark struct {
	TTL  string `json:"ttl,omitempty"` // "": five minutes
	Type string `json:"type"`          // "ephemeral"
}

// tool is a tool of the caller, which has no type, or one of the vendor's own, which has no schema.
type tool struct {
	InputSchema  json.RawMessage `json:"input_schema,omitempty"`
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	CacheControl *cacheMark      `json:"cache_control,omitempty"`
	Type         string          `json:"type,omitempty"`
}
