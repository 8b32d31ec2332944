package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// These constants bound what a server may send.
const (
	maxPages       = 100
	maxTools       = 1000
	maxName        = 64       // bytes of a name
	maxDescription = 4 << 10  // bytes of a description
	maxSchema      = 64 << 10 // bytes of a schema
	maxAnswer      = 32 << 10 // bytes of an answer; an engine cuts longer ones, and says so
)

// Tools returns all tools of a server, by the names under which they can be registered. The tools use the
// session, which still belongs to the caller. They are safe for concurrent use. Each use lasts until the
// server answers or its context is done; the server is then notified. Parts of an answer that are not
// text are described in a line each. If a tool reports an error, the use fails with it.
//
// If the list cannot be read, Tools returns the session's error. If the list cannot be used, it fails
// with a *flow.Error of kind validation. That is the case if the list has
//
//   - more than 1,000 tools,
//   - two tools that would get the same name,
//   - a tool without a name, or
//   - a tool whose schema is not an object or larger than 64 KiB.
func Tools(ctx context.Context, session *sdk.ClientSession) (map[string]flow.Tool, error) {
	if session == nil {
		return nil, invalid("session", errors.New("there is none"))
	}
	tools := make(map[string]flow.Tool)
	names := make(map[string]string) // the server's names, by ours
	params := &sdk.ListToolsParams{}
	for range maxPages {
		page, err := session.ListTools(ctx, params)
		if err != nil {
			return nil, err
		}
		for _, offered := range page.Tools {
			name, err := nameOf(offered.Name)
			if err != nil {
				return nil, invalid("tools", err)
			}
			if former, taken := names[name]; taken {
				return nil, invalid("tools", fmt.Errorf("%s and %s would both be called %q", quoted(former), quoted(offered.Name), name))
			}
			if len(tools) >= maxTools {
				return nil, invalid("tools", fmt.Errorf("there are more than %d", maxTools))
			}
			info, err := infoOf(offered)
			if err != nil {
				return nil, invalid("tools", fmt.Errorf("%s: %w", quoted(offered.Name), err))
			}
			tools[name], names[name] = &tool{session, offered.Name, info}, offered.Name
		}
		if page.NextCursor == "" {
			return tools, nil
		}
		params = &sdk.ListToolsParams{Cursor: page.NextCursor}
	}
	return nil, invalid("tools", fmt.Errorf("the list has more than %d pages", maxPages))
}

func invalid(field string, err error) error {
	return &flow.Error{Kind: provider.KindValidation, Op: "mcp", Field: field, Err: err}
}

// nameOf returns the name under which a tool is registered.
func nameOf(theirs string) (string, error) {
	if theirs == "" {
		return "", errors.New("one has no name")
	}
	name := strings.Map(func(r rune) rune {
		if r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, theirs)
	return name[:min(len(name), maxName)], nil
}

func quoted(name string) string { return strconv.Quote(name[:min(len(name), 2*maxName)]) }

// infoOf returns the description that the server gave of a tool.
func infoOf(offered *sdk.Tool) (flow.ToolInfo, error) {
	info := flow.ToolInfo{
		Description: offered.Description,
		Parameters:  json.RawMessage(`{"type":"object","properties":{}}`),
	}
	if hints := offered.Annotations; hints != nil {
		info.ReadOnly = hints.ReadOnlyHint
		info.Idempotent = hints.IdempotentHint && !hints.ReadOnlyHint // the protocol defines it for tools that change something
	}
	if info.Description == "" {
		info.Description = offered.Title
	}
	info.Description = cut(info.Description, maxDescription)
	if offered.InputSchema == nil {
		return info, nil
	}
	schema, err := json.Marshal(offered.InputSchema)
	switch {
	case err != nil:
		return info, fmt.Errorf("its schema: %w", err)
	case schema[0] != '{':
		return info, errors.New("its schema is not an object")
	case len(schema) > maxSchema:
		return info, fmt.Errorf("its schema has more than %d bytes", maxSchema)
	}
	info.Parameters = schema
	return info, nil
}

// tool is a tool of a server.
type tool struct {
	session *sdk.ClientSession
	name    string // the server's name for it
	info    flow.ToolInfo
}

// Describe returns the server's description.
func (t *tool) Describe() flow.ToolInfo { return t.info }

// Use has the server run the tool.
func (t *tool) Use(ctx context.Context, use flow.ToolUse) (string, error) {
	arguments := use.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}") // some vendors send nothing if there are none
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &object); err != nil || object == nil {
		return "", errors.New("the arguments are no JSON object")
	}
	result, err := t.session.CallTool(ctx, &sdk.CallToolParams{Name: t.name, Arguments: arguments})
	if err != nil {
		return "", failure(ctx, err)
	}
	text, err := textOf(result)
	switch {
	case err != nil:
		return "", err
	case result.IsError && text == "":
		return "", errors.New("the tool has failed, and does not say why")
	case result.IsError:
		return "", errors.New(text)
	}
	return text, nil
}

// rejected is the code with which the session reports that a call did not reach the server.
const rejected = -32005

// failure returns the error for a model if a call has no result: the server's own words, or that there
// are none.
func failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var refused *jsonrpc.Error
	if errors.As(err, &refused) && refused.Code != rejected {
		return fmt.Errorf("the tool's server refuses: %s", cut(refused.Message, maxDescription))
	}
	return &unreached{err}
}

// ErrNoAnswer reports that a tool's server could not be reached, or has ended. It is the general message that the model
// gets.
var ErrNoAnswer = errors.New("the tool's server gave no answer")

// unreached is a failure on the way to the server.
type unreached struct{ cause error }

// Error omits the cause, which may hold the server's address and a key.
func (u *unreached) Error() string { return ErrNoAnswer.Error() }

// Is reports that this is an ErrNoAnswer.
func (u *unreached) Is(target error) bool { return target == ErrNoAnswer }

// Unwrap returns the cause, for the operator of the engine.
func (u *unreached) Unwrap() error { return u.cause }
