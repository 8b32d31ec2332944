package debate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/agonist-dev/debate/internal/schema"
	"github.com/agonist-dev/debate/internal/strictjson"
	"github.com/agonist-dev/debate/provider"
)

// Tool is something that a model may have done while it makes up its reply: look into a file, search, compute.
// It is registered in Engine.Tools under the name by which models call it.
//
// The arguments are a model's words, and so may be anything: Use checks them. What it returns goes to the
// model, at most 32 KiB of it, and so does the text of its error: neither may hold a secret. A tool that panics
// has failed, and the engine's Logger gets the stack. Use returns soon
// after ctx is done, which happens at the latest after Config.TurnTimeout, and is safe for concurrent use.
type Tool interface {
	// Describe says what the tool does and what arguments it takes. It is frozen when a debate starts.
	Describe() ToolInfo
	// Use does it.
	Use(ctx context.Context, use ToolUse) (string, error)
}

// ToolInfo describes a tool to the models.
type ToolInfo struct {
	Description string `json:"description"`
	// Parameters is the JSON schema of the arguments, an object's.
	Parameters json.RawMessage `json:"parameters"`
	// ReadOnly: the tool changes nothing, so that a use that was broken off, by a pause or a crash, may be
	// made again. Otherwise the model is told that nobody knows whether it took effect.
	ReadOnly bool `json:"readOnly,omitempty"`
}

// ToolUse is one use of a tool. What it points to is shared: read only.
type ToolUse struct {
	Debate    string
	Call      string // deterministic: an idempotency key together with Attempt
	Attempt   int    // from 1
	By        string // the participant whose model asks
	Round     int
	Arguments json.RawMessage // as the model wrote them: hostile
	// Turns are those that everybody may read so far, oldest first; their text is hostile.
	Turns  []*Turn
	Labels map[string]string // the config's
}

// NewTool makes a tool of a function. The schema of its arguments comes from T, a struct whose fields are all
// required unless they are omitempty; arguments that do not match it, or that run does not get to see
// because they are no JSON, are answered with what is wrong. readOnly is for ToolInfo.ReadOnly.
func NewTool[T any](description string, readOnly bool, run func(ctx context.Context, use ToolUse, args T) (string, error)) (Tool, error) {
	parameters, err := schema.For[T]()
	if err != nil {
		return nil, &Error{Kind: KindValidation, Op: "tool", Err: err}
	}
	validator, err := schema.Compile("arguments", parameters)
	if err != nil {
		return nil, &Error{Kind: KindValidation, Op: "tool", Err: err}
	}
	if run == nil {
		return nil, &Error{Kind: KindValidation, Op: "tool", Err: errors.New("there is no function")}
	}
	return &tool[T]{ToolInfo{description, parameters, readOnly}, validator, run}, nil
}

type tool[T any] struct {
	info      ToolInfo
	arguments *schema.Schema
	run       func(ctx context.Context, use ToolUse, args T) (string, error)
}

func (t *tool[T]) Describe() ToolInfo { return t.info }

func (t *tool[T]) Use(ctx context.Context, use ToolUse) (string, error) {
	text := string(use.Arguments)
	if text == "" {
		text = "{}" // what some vendors send for none
	}
	tree, err := strictjson.Decode(text, strictjson.Limits{})
	if err != nil {
		return "", fmt.Errorf("the arguments are no JSON object: %w", err)
	}
	if problems := t.arguments.Validate(tree); len(problems) > 0 {
		return "", errors.New("the arguments are wrong: " + bulleted(problems))
	}
	var args T
	if err := json.Unmarshal([]byte(text), &args); err != nil {
		return "", fmt.Errorf("the arguments are wrong: %w", err)
	}
	return t.run(ctx, use, args)
}

// KindTool is the kind of a tool's use, in every flow.
const KindTool CallKind = "tool"

// ToolCalls is a reply that asks for tools. The attempt has ended with it; the next one of the same call shows
// the model what they have answered.
type ToolCalls struct {
	Spend
	By    string      `json:"by"`
	Round int         `json:"round,omitempty"`
	Text  string      `json:"text,omitempty"` // what was said beside
	Uses  []AskedTool `json:"uses"`
}

// AskedTool is a tool that a model has asked for.
type AskedTool struct {
	Use string `json:"use"` // the id of the call that uses the tool
	provider.ToolCall
	// Denied says why the tool is not used; the model is told.
	Denied string `json:"denied,omitempty"`
}

// ToolResult is what came of the use of a tool.
type ToolResult struct {
	Spend
	By    string `json:"by"` // whose model has asked
	Round int    `json:"round,omitempty"`
	Tool  string `json:"tool"`
	Text  string `json:"text"` // what the tool answered, or why it failed
	// Failed: the tool has failed, or was broken off.
	Failed bool `json:"failed,omitempty"`
	// Cut: the answer was longer than 32 KiB.
	Cut bool `json:"cut,omitempty"`
}
