package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/toolschema"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// These constants bound what a server may send.
const (
	maxPages       = 100
	maxTools       = 1000
	maxName        = 64       // bytes of a name
	maxDescription = 4 << 10  // bytes of a description
	maxAnswer      = 32 << 10 // bytes of an answer; an engine cuts longer ones, and says so
)

// Tools returns all tools of a server, by the names under which they can be registered. The tools use the
// session, which still belongs to the caller. They are safe for concurrent use. Each use lasts until the
// server answers or its context is done; the server is then notified. Parts of an answer that are not
// text are described in a line each. If a tool reports an error, the use fails with it.
//
// Two tools that would get the same name get different ones, which depend on the server's names alone. A tool whose schema vendors
// take in no form says so in ToolInfo.LeftOut: a conversation begins without it, and with a warning.
//
// If the list cannot be read, Tools returns the session's error. If the list cannot be used, it fails
// with a *flow.Error of kind validation: it has more than 1,000 tools, or one without a name.
func Tools(ctx context.Context, session *sdk.ClientSession) (map[string]flow.Tool, error) {
	if session == nil {
		return nil, invalid("session", errors.New("there is none"))
	}
	var list []*tool
	params := &sdk.ListToolsParams{}
	for range maxPages {
		page, err := session.ListTools(ctx, params)
		if err != nil {
			return nil, err
		}
		for _, offered := range page.Tools {
			if offered.Name == "" {
				return nil, invalid("tools", errors.New("one has no name"))
			}
			if slices.ContainsFunc(list, func(t *tool) bool { return t.name == offered.Name }) {
				continue // it is listed twice
			}
			if len(list) >= maxTools {
				return nil, invalid("tools", fmt.Errorf("there are more than %d", maxTools))
			}
			list = append(list, made(session, offered))
		}
		if page.NextCursor == "" {
			return named(list), nil
		}
		params = &sdk.ListToolsParams{Cursor: page.NextCursor}
	}
	return nil, invalid("tools", fmt.Errorf("the list has more than %d pages", maxPages))
}

// named returns tools by the names under which they are registered. A tool whose own name is valid keeps it. Of others that come to the
// same name, all but the first in the order of their own names get a number, however the server lists them.
func named(list []*tool) map[string]flow.Tool {
	tools := make(map[string]flow.Tool, len(list))
	slices.SortFunc(list, func(a, b *tool) int {
		own := func(t *tool) int { // 0 if its own name is valid
			if nameOf(t.name) == t.name {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(own(a), own(b)), strings.Compare(a.name, b.name))
	})
	for _, t := range list {
		tools[free(nameOf(t.name), func(name string) bool { return tools[name] != nil })] = t
	}
	return tools
}

// Add adds the tools of a server to those of others. A tool whose name is taken gets the name of its server before its own, and a
// number behind that if it is taken too. The new names depend on the names alone.
func Add(into map[string]flow.Tool, session *sdk.ClientSession, tools map[string]flow.Tool) {
	server := "mcp"
	if said := session.InitializeResult(); said != nil && said.ServerInfo != nil {
		server = cmp.Or(said.ServerInfo.Name, server)
	}
	taken := func(name string) bool { return into[name] != nil }
	var again []string // names that others' tools have
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		if taken(name) {
			again = append(again, name)
		} else {
			into[name] = tools[name]
		}
	}
	for _, name := range again {
		into[free(nameOf(server+"_"+name), taken)] = tools[name]
	}
}

// free returns a name that is not taken: the given one, or the same with a number behind it. It has at most 64 bytes.
func free(name string, taken func(name string) bool) string {
	out := name[:min(len(name), maxName)]
	for n := 2; taken(out); n++ {
		suffix := "_" + strconv.Itoa(n)
		out = name[:min(len(name), maxName-len(suffix))] + suffix
	}
	return out
}

func invalid(field string, err error) error {
	return &flow.Error{Kind: provider.KindValidation, Op: "mcp", Field: field, Err: err}
}

// nameOf returns the name for a tool in the form that all vendors take.
func nameOf(theirs string) string { return wire.ToolName(theirs) }

// made returns a tool as the server describes it.
func made(session *sdk.ClientSession, offered *sdk.Tool) *tool {
	t := &tool{session: session, name: offered.Name}
	t.info = flow.ToolInfo{Description: offered.Description, Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}
	if hints := offered.Annotations; hints != nil {
		t.info.ReadOnly = hints.ReadOnlyHint
		t.info.Idempotent = hints.IdempotentHint && !hints.ReadOnlyHint // the protocol defines it for tools that change something
	}
	if t.info.Description == "" {
		t.info.Description = offered.Title
	}
	t.info.Description = cut(t.info.Description, maxDescription)
	if offered.InputSchema == nil {
		return t
	}
	schema, err := json.Marshal(offered.InputSchema)
	if err == nil {
		schema, t.arguments = toolschema.Rename(schema)
		schema, err = toolschema.Lower(schema)
	}
	if err != nil {
		t.info.LeftOut = err.Error()
		return t
	}
	t.info.Parameters = schema
	return t
}

// tool is a tool of a server.
type tool struct {
	session *sdk.ClientSession
	name    string // the server's name for it
	info    flow.ToolInfo

	arguments map[string]string // the server's names for arguments, by those that models are told; of others they are the same
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
	if len(t.arguments) > 0 {
		theirs := make(map[string]json.RawMessage, len(object))
		for name, value := range object {
			theirs[cmp.Or(t.arguments[name], name)] = value
		}
		var err error
		if arguments, err = json.Marshal(theirs); err != nil {
			return "", errors.New("the arguments are no JSON object")
		}
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
