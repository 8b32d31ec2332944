package openai

import "encoding/json"

// request is the body of a request for a reply.
type request struct {
	Instructions    string    `json:"instructions,omitempty"`
	MaxOutputTokens int       `json:"max_output_tokens,omitempty"`
	PromptCacheKey  string    `json:"prompt_cache_key,omitempty"`
	Store           bool      `json:"store"` // false is not the API's default
	Temperature     *float64  `json:"temperature,omitempty"`
	TopP            *float64  `json:"top_p,omitempty"`
	Include         []string  `json:"include,omitempty"`
	ServiceTier     string    `json:"service_tier,omitempty"`
	Input           []any     `json:"input"` // message, functionCall, functionOutput, and thoughts as they came
	Model           string    `json:"model"`
	Reasoning       reasoning `json:"reasoning,omitzero"`
	Text            textual   `json:"text,omitzero"`
	Tools           []tool    `json:"tools,omitempty"`
	Stream          bool      `json:"stream"`
}

// reasoning is how much the model thinks, and whether it tells of it.
type reasoning struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

// textual is how the text of the reply is written.
type textual struct {
	Format    *schemaFormat `json:"format,omitempty"`
	Verbosity string        `json:"verbosity,omitempty"`
}

// schemaFormat is the format of a reply that matches a schema, which keeps the order of its properties: models write in it.
type schemaFormat struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict"` // must be said: servers differ in what they take if it is missing
	Type   string          `json:"type"`   // "json_schema"
	Schema json.RawMessage `json:"schema"`
}

// The roles of the API.
const (
	user      = "user"
	assistant = "assistant"
)

// message is what somebody has said.
type message struct {
	Content any    `json:"content"` // a text, or a list of part
	Role    string `json:"role"`
}

// part is an image, a file or a text of a message.
type part struct {
	Detail   string `json:"detail,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
	FileData string `json:"file_data,omitempty"`
	Filename string `json:"filename,omitempty"`
	Text     string `json:"text,omitempty"`
	Type     string `json:"type"`
}

// functionCall is a call of a tool by the speaker.
type functionCall struct {
	Arguments string `json:"arguments"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Type      string `json:"type"` // "function_call"
}

// functionOutput is the result of a call.
type functionOutput struct {
	Output string `json:"output"`
	CallID string `json:"call_id"`
	Type   string `json:"type"` // "function_call_output"
}

// tool is a function that the model may call, or one of the vendor's own tools, which has only a type.
type tool struct {
	Strict      *bool           `json:"strict,omitempty"`
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	Type        string          `json:"type"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}
