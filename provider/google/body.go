package google

import "encoding/json"

// Safety says what one of the vendor's filters blocks, in the API's words.
type Safety struct {
	Category  string `json:"category,omitempty"`  // "HARM_CATEGORY_HARASSMENT"
	Method    string `json:"method,omitempty"`    // "SEVERITY" or "PROBABILITY", on Vertex AI; "": the vendor's default
	Threshold string `json:"threshold,omitempty"` // "BLOCK_ONLY_HIGH", "BLOCK_NONE", "OFF"
}

// Thinking says how much a model thinks: by a level or by a budget, whichever it supports.
type Thinking struct {
	IncludeThoughts bool   `json:"includeThoughts,omitempty"` // the reply comes with summaries of the thoughts
	Budget          *int32 `json:"thinkingBudget,omitempty"`  // tokens; 0: none, -1: as many as the model wants
	Level           string `json:"thinkingLevel,omitempty"`   // "MINIMAL", "LOW", "MEDIUM", "HIGH"
}

// generateRequest is the body of a request.
type generateRequest struct {
	SystemInstruction *turn            `json:"systemInstruction,omitempty"`
	Contents          []*turn          `json:"contents"`
	Tools             []tool           `json:"tools,omitempty"`
	SafetySettings    []Safety         `json:"safetySettings,omitempty"`
	GenerationConfig  generationConfig `json:"generationConfig"`
	ServiceTier       string           `json:"serviceTier,omitempty"`
}

type generationConfig struct {
	ResponseJSONSchema json.RawMessage `json:"responseJsonSchema,omitempty"`
	MaxOutputTokens    int32           `json:"maxOutputTokens,omitempty"`
	ResponseMIMEType   string          `json:"responseMimeType,omitempty"`
	Seed               *int32          `json:"seed,omitempty"`
	StopSequences      []string        `json:"stopSequences,omitempty"`
	Temperature        *float32        `json:"temperature,omitempty"`
	ThinkingConfig     *Thinking       `json:"thinkingConfig,omitempty"`
	TopP               *float32        `json:"topP,omitempty"`
}

// The roles of the API.
const (
	roleUser  = "user"
	roleModel = "model"
)

// turn is a content of the API: parts by one role.
type turn struct {
	Parts []piece `json:"parts,omitempty"`
	Role  string  `json:"role,omitempty"`
}

// piece is a part of a turn: a text, a file, a call or a result.
type piece struct {
	FunctionCall     *sentCall   `json:"functionCall,omitempty"`
	FunctionResponse *sentResult `json:"functionResponse,omitempty"`
	InlineData       *inlineData `json:"inlineData,omitempty"`
	Text             string      `json:"text,omitempty"`
	ThoughtSignature []byte      `json:"thoughtSignature,omitempty"`
}

type sentCall struct {
	ID   string         `json:"id,omitempty"`
	Args map[string]any `json:"args,omitempty"`
	Name string         `json:"name,omitempty"`
}

type sentResult struct {
	ID       string         `json:"id,omitempty"`
	Name     string         `json:"name,omitempty"`
	Response map[string]any `json:"response,omitempty"`
}

type inlineData struct {
	Data     []byte `json:"data,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
}

// tool is the vendor's search, or all functions of the caller.
type tool struct {
	GoogleSearch         *struct{}             `json:"googleSearch,omitempty"`
	FunctionDeclarations []functionDeclaration `json:"functionDeclarations,omitempty"`
}

type functionDeclaration struct {
	Description string          `json:"description,omitempty"`
	Name        string          `json:"name,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema,omitempty"`
}
