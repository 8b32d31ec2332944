package flow

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/agonist-dev/debate/internal/schema"
	"github.com/agonist-dev/debate/internal/strictjson"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// A call whose model asks for tools is made in several attempts. Each reply that asks is a fact, each use of a tool is a call of its
// own, and the next attempt shows the model the answers. Therefore a crash loses no answer. No use is made twice, unless its tool is
// read-only or idempotent, or somebody has chosen that. tool_fold takes what models ask for and what tools answer, tool_talk
// shows it to the model, and tool_ask asks a person who has to approve.

// Tool is something that a model may use while it makes its reply: read a file, search, compute. The host program
// registers it in Engine.Tools under the name by which models call it. A Tool must be safe for concurrent use.
type Tool interface {
	// Describe returns what the tool does and which arguments it takes. It is frozen when a conversation starts.
	Describe() ToolInfo
	// Use performs one use. A model wrote the arguments, so they may be anything: Use checks them.
	//
	// The text that Use returns goes to the model and into the log, at most 32 KiB of it. Nothing in it is changed, because a
	// model gives parts of it back, as to tool.EditFile. So it may hold characters that control a terminal: who shows it removes
	// them. The text of an error is recorded without them. Neither text may contain a secret. A tool that panics has failed, and the
	// engine's Logger gets the stack.
	//
	// Use must return soon after ctx is done. That happens after Settings.TurnTimeout at the latest.
	Use(ctx context.Context, use ToolUse) (string, error)
}

// ToolInfo describes a tool to the models.
type ToolInfo struct {
	Description string `json:"description"`
	// Parameters is the JSON schema of the arguments. It must be that of an object. What vendors refuse of it is lowered when it is sent.
	Parameters json.RawMessage `json:"parameters" redact:"schema"`
	// ReadOnly means that the tool changes nothing. A use that a pause or a crash has aborted is then made again.
	ReadOnly bool `json:"readOnly,omitempty"`
	// Idempotent means that a use with the same ToolUse.Key may be made again without a second effect. A use that a pause
	// or a crash has aborted is then made again too. If the tool is neither ReadOnly nor Idempotent, a person or the
	// [ToolPolicy] decides about such a use, and about one that has taken too long.
	Idempotent bool `json:"idempotent,omitempty"`
	// Approval means that a person has to approve each use before it is made. In an unattended conversation [ToolPolicy]
	// decides.
	Approval bool `json:"approval,omitempty"`
	// LeftOut says why models are not offered the tool; "": they are. A tool may set it. The engine sets it when a conversation begins,
	// if its Parameters cannot be lowered to what all vendors take, and records a warning of kind [WarnTool]. At most 300 bytes are kept.
	LeftOut string `json:"leftOut,omitempty"`
}

// repeatable reports whether a use whose outcome is unknown may be made again.
func repeatable(i ToolInfo) bool { return i.ReadOnly || i.Idempotent }

// ToolUse is one use of a tool. What it points to is shared: it is read only.
type ToolUse struct {
	Conversation string // its ID
	Call         string // deterministic: the same for each attempt at this use
	Attempt      int    // from 1
	// Key is the idempotency key of the use: all attempts at it have the same, also those of a fork that was made before
	// its result was there. It is made of Call, Arguments and the conversation's seed, and does not show the seed.
	Key       string
	By        string // the participant whose model asks
	Round     int
	Arguments json.RawMessage // as the model wrote them: not trusted
	// Turns are the turns that everybody may read so far, oldest first. Models wrote their text: it is not trusted.
	Turns  []*Turn
	Labels map[string]string // the config's
}

// NewTool makes a tool from a function. The schema of its arguments comes from T, a struct: it replaces info.Parameters.
// The fields of T are all required unless they are omitempty. Arguments that are no JSON, or do not match the schema, do not
// reach run: the model is told what is wrong.
func NewTool[T any](info ToolInfo, run func(ctx context.Context, use ToolUse, args T) (string, error)) (Tool, error) {
	parameters, err := schema.For[T]()
	if err != nil {
		return nil, &Error{Kind: provider.KindValidation, Op: "tool", Err: err}
	}
	validator, err := schema.Compile("arguments", parameters)
	if err != nil {
		return nil, &Error{Kind: provider.KindValidation, Op: "tool", Err: err}
	}
	if run == nil {
		return nil, &Error{Kind: provider.KindValidation, Op: "tool", Err: errors.New("there is no function")}
	}
	info.Parameters = parameters
	return &tool[T]{info, validator, run}, nil
}

// WithApproval returns a tool of which a person has to approve each use. It is for tools of others, such as those of an MCP
// server.
func WithApproval(t Tool) Tool { return approved{t} }

type approved struct{ Tool }

// Describe implements [Tool].
func (a approved) Describe() ToolInfo {
	info := a.Tool.Describe()
	info.Approval = true
	return info
}

type tool[T any] struct {
	info      ToolInfo
	arguments *schema.Schema
	run       func(ctx context.Context, use ToolUse, args T) (string, error)
}

func (t *tool[T]) Describe() ToolInfo { return t.info }

func (t *tool[T]) Use(ctx context.Context, use ToolUse) (string, error) {
	content := string(use.Arguments)
	if content == "" {
		content = "{}" // some vendors send an empty text for no arguments
	}
	tree, err := strictjson.Decode(content, strictjson.Limits{})
	if err != nil {
		return "", fmt.Errorf("the arguments are no JSON object: %w", err)
	}
	if problems := t.arguments.Validate(tree); len(problems) > 0 {
		return "", errors.New("the arguments are wrong: " + text.Bulleted(problems))
	}
	var args T
	if err := json.Unmarshal([]byte(content), &args); err != nil {
		return "", fmt.Errorf("the arguments are wrong: %w", err)
	}
	return t.run(ctx, use, args)
}

// KindTool is the kind of the use of a tool, in every flow.
const KindTool CallKind = "tool"

// ToolCalls is a reply that asks for tools. It ends its attempt. The next attempt of the same call shows the model
// what the tools have answered.
type ToolCalls struct {
	Spend
	By    string      `json:"by" redact:"-"`
	Round int         `json:"round,omitempty"`
	Text  string      `json:"text,omitempty"` // what the model said beside
	Uses  []AskedTool `json:"uses"`
}

// AskedTool is one use that a model has asked for.
type AskedTool struct {
	Use string `json:"use" redact:"-"` // the ID of the call that uses the tool
	provider.ToolCall
	// Denied says why the tool is not used. The model is told.
	Denied string `json:"denied,omitempty"`
}

// ToolResult is the result of the use of a tool.
type ToolResult struct {
	Spend
	By    string `json:"by" redact:"-"` // the participant whose model has asked
	Round int    `json:"round,omitempty"`
	Tool  string `json:"tool" redact:"-"`
	// Text is what the tool answered, unchanged, or why it failed. An answer may hold characters that control a terminal.
	Text string `json:"text"`
	// Failed means that the tool has failed or was aborted.
	Failed bool `json:"failed,omitempty"`
	// Unknown means that nobody knows whether the use took effect: it was aborted, took too long, or its process is gone. It is
	// not made again unless somebody chooses that.
	Unknown bool `json:"unknown,omitempty"`
	// Cut means that the answer was longer than 32 KiB.
	Cut bool `json:"cut,omitempty"`
}

// ToolPolicy says what is done about uses of tools where no person can be asked: in unattended conversations. Each decision
// is recorded as an inquiry with its answer, as a person's would be.
type ToolPolicy struct {
	// Unknown is what follows from a use whose outcome nobody knows: OptionTell, OptionAgain or OptionFail. Such a use was aborted, took
	// too long, or its process is gone.
	//   - OptionTell, the default, tells the model.
	//   - OptionAgain makes the use again, as often as Settings.Retry allows after a time-out, and then tells the model. There
	//     may be a second effect.
	//   - OptionFail goes to the error state. To continue, send an [Amendment] of the policy, or one that lets a person be
	//     asked, and then Session.Retry.
	Unknown Option `json:"unknown,omitempty" redact:"-"`
	// Approval is for a use that needs approval: OptionDeny, the default, or OptionApprove.
	Approval Option `json:"approval,omitempty" redact:"-"`
}

// toolDefaults returns the policy with its defaults written out.
func toolDefaults(p ToolPolicy) ToolPolicy {
	return ToolPolicy{cmp.Or(p.Unknown, OptionTell), cmp.Or(p.Approval, OptionDeny)}
}

// toolPolicy refuses options that the policy cannot choose.
func (f *Findings) toolPolicy(p ToolPolicy) {
	switch p.Unknown {
	case "", OptionTell, OptionAgain, OptionFail:
	default:
		f.Addf("toolPolicy.unknown", "%w", Unknown("", p.Unknown, "", OptionTell, OptionAgain, OptionFail))
	}
	switch p.Approval {
	case "", OptionDeny, OptionApprove:
	default:
		f.Addf("toolPolicy.approval", "%w", Unknown("", p.Approval, "", OptionDeny, OptionApprove))
	}
}
