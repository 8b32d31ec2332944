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

	"github.com/agonist-dev/debate"
)

// Bounds of what a server says.
const (
	mostPages       = 100
	mostTools       = 1000
	mostName        = 64       // bytes of a name
	mostDescription = 4 << 10  // bytes of a description
	mostSchema      = 64 << 10 // bytes of a schema
	mostAnswer      = 32 << 10 // bytes of an answer: an engine cuts what is longer, and says so
)

// Tools yields all tools of a server, by the names under which they can be registered. They use the session, which
// stays the caller's, and are safe for concurrent use. Each use lasts until the server answers or its context is done;
// the server is told then. What a tool answers beside text is named in a line; what a tool reports as its error is the
// use's error.
//
// A list that cannot be read is an error as the session gives it. One that cannot be used is a *debate.Error of kind
// validation: it has more than 1,000 tools, two that would have the same name, one without a name or with a schema
// that is not an object or larger than 64 KiB.
func Tools(ctx context.Context, session *sdk.ClientSession) (map[string]debate.Tool, error) {
	if session == nil {
		return nil, invalid("session", errors.New("there is none"))
	}
	tools := make(map[string]debate.Tool)
	names := make(map[string]string) // the server's, by ours
	params := &sdk.ListToolsParams{}
	for range mostPages {
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
			if len(tools) >= mostTools {
				return nil, invalid("tools", fmt.Errorf("there are more than %d", mostTools))
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
	return nil, invalid("tools", fmt.Errorf("the list has more than %d pages", mostPages))
}

func invalid(field string, err error) error {
	return &debate.Error{Kind: debate.KindValidation, Op: "mcp", Field: field, Err: err}
}

// nameOf yields the name under which a tool is registered.
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
	return name[:min(len(name), mostName)], nil
}

func quoted(name string) string { return strconv.Quote(name[:min(len(name), 2*mostName)]) }

// infoOf describes a tool as its server does.
func infoOf(offered *sdk.Tool) (debate.ToolInfo, error) {
	info := debate.ToolInfo{
		Description: offered.Description,
		Parameters:  json.RawMessage(`{"type":"object","properties":{}}`),
		ReadOnly:    offered.Annotations != nil && offered.Annotations.ReadOnlyHint,
	}
	if info.Description == "" {
		info.Description = offered.Title
	}
	info.Description = cut(info.Description, mostDescription)
	if offered.InputSchema == nil {
		return info, nil
	}
	schema, err := json.Marshal(offered.InputSchema)
	switch {
	case err != nil:
		return info, fmt.Errorf("its schema: %w", err)
	case schema[0] != '{':
		return info, errors.New("its schema is not an object")
	case len(schema) > mostSchema:
		return info, fmt.Errorf("its schema has more than %d bytes", mostSchema)
	}
	info.Parameters = schema
	return info, nil
}

// tool is one of a server's.
type tool struct {
	session *sdk.ClientSession
	name    string // the server's
	info    debate.ToolInfo
}

// Describe yields what the server said.
func (t *tool) Describe() debate.ToolInfo { return t.info }

// Use has the server use the tool.
func (t *tool) Use(ctx context.Context, use debate.ToolUse) (string, error) {
	arguments := use.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}") // what some vendors send for none
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

// rejected is the code under which the session reports that a call did not get through to the server.
const rejected = -32005

// failure is what a model is told of a call that has no result: the server's own words, or that there are none.
func failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var refused *jsonrpc.Error
	if errors.As(err, &refused) && refused.Code != rejected {
		return fmt.Errorf("the tool's server refuses: %s", cut(refused.Message, mostDescription))
	}
	return &unreached{err}
}

// unreached is a failure between here and the server.
type unreached struct{ cause error }

// Error leaves out the cause, which may hold the server's address and what it needs as a key.
func (u *unreached) Error() string { return "the tool's server gave no answer" }

// Unwrap yields the cause, for those who run the engine.
func (u *unreached) Unwrap() error { return u.cause }
