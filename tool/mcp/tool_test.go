package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/tool/mcp"
)

func use(ctx context.Context, used flow.Tool, arguments string) (string, error) {
	return used.Use(ctx, flow.ToolUse{Call: "r1.ada.tool.1", Attempt: 1, By: "Ada", Arguments: json.RawMessage(arguments)})
}

// server has tools that take anything, and answer what do yields.
func server(options *sdk.ServerOptions, do sdk.ToolHandler, names ...string) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "server", Version: "1"}, options)
	for _, name := range names {
		s.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, do)
	}
	return s
}

func answering(result *sdk.CallToolResult, err error) sdk.ToolHandler {
	return func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return result, err }
}

// only is the one tool of a server that answers so.
func only(t testing.TB, result *sdk.CallToolResult, err error) flow.Tool {
	t.Helper()
	tools, failed := mcp.Tools(t.Context(), connected(t, server(nil, answering(result, err), "it")))
	require.NoError(t, failed)
	require.Contains(t, tools, "it")
	return tools["it"]
}

// listing is a server whose lists of tools are made up.
func listing(list func(cursor string) *sdk.ListToolsResult) *sdk.Server {
	s := server(nil, answering(&sdk.CallToolResult{}, nil), "real")
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if params, ok := req.GetParams().(*sdk.ListToolsParams); ok {
				return list(params.Cursor), nil
			}
			return next(ctx, method, req)
		}
	})
	return s
}

func TestToolsAreDescribedAsTheirServerDoes(t *testing.T) {
	s := greeter()
	s.AddTool(&sdk.Tool{
		Name: "delete", Title: "Deletes a thing", InputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer","minimum":1}},"required":["id"]}`),
		Annotations: &sdk.ToolAnnotations{IdempotentHint: true},
	}, answering(&sdk.CallToolResult{}, nil))
	tools, err := mcp.Tools(t.Context(), connected(t, s))
	require.NoError(t, err)
	require.Len(t, tools, 2)

	greet := tools["greet"].Describe()
	assert.Equal(t, "Says hello.", greet.Description)
	assert.True(t, greet.ReadOnly)
	assert.False(t, greet.Idempotent, "the hint says nothing of a tool that only reads")
	assert.JSONEq(t, `{"type":"object","properties":{"name":{"type":"string","description":"whom to greet"}},"required":["name"],"additionalProperties":false}`,
		string(greet.Parameters))

	remove := tools["delete"].Describe()
	assert.Equal(t, "Deletes a thing", remove.Description)
	assert.False(t, remove.ReadOnly)
	assert.True(t, remove.Idempotent)
	assert.JSONEq(t, `{"type":"object","properties":{"id":{"type":"integer","minimum":1}},"required":["id"]}`, string(remove.Parameters))
}

func TestListsOfManyPages(t *testing.T) {
	var names []string
	for i := range 25 {
		names = append(names, fmt.Sprintf("tool%02d", i))
	}
	tools, err := mcp.Tools(t.Context(), connected(t, server(&sdk.ServerOptions{PageSize: 2}, answering(&sdk.CallToolResult{}, nil), names...)))
	require.NoError(t, err)
	assert.Len(t, tools, 25)
	for _, name := range names {
		assert.Contains(t, tools, name)
	}
	tools, err = mcp.Tools(t.Context(), connected(t, server(&sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}}, nil)))
	require.NoError(t, err)
	assert.Empty(t, tools)
}

// Names become such as vendors take, and the server is asked by its own.
func TestNames(t *testing.T) {
	long := strings.Repeat("x", 100)
	theirs := map[string]string{
		"plain": "plain", "with-dash_1": "with-dash_1", "files.read": "files_read", "a/b c": "a_b_c", "größe": "gr__e", long: long[:64],
		"7z": "_7z", "tree_read": "tree_read", "tree.read": "tree_read_2", "tree/read": "tree_read_3", long + "y": long[:62] + "_2",
	}
	s := listing(func(string) *sdk.ListToolsResult {
		out := &sdk.ListToolsResult{}
		for name := range theirs {
			out.Tools = append(out.Tools, &sdk.Tool{Name: name, InputSchema: map[string]any{"type": "object"}})
		}
		return out
	})
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if call, ok := req.(*sdk.CallToolRequest); ok {
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: call.Params.Name}}}, nil
			}
			return next(ctx, method, req)
		}
	})
	tools, err := mcp.Tools(t.Context(), connected(t, s))
	require.NoError(t, err)
	require.Len(t, tools, len(theirs))
	for name, ours := range theirs {
		require.Contains(t, tools, ours)
		text, err := use(t.Context(), tools[ours], `{}`)
		require.NoError(t, err)
		assert.Equal(t, name, text)
	}
	engine := &debate.Engine{Tools: tools}
	_, err = engine.New(debate.Config{})
	require.NoError(t, err, "an engine takes all of them")
	require.NoError(t, engine.Shutdown(t.Context()))
}

// TestToolsOfSeveralServers: a name that is taken gets that of its server before it, and then a number.
func TestToolsOfSeveralServers(t *testing.T) {
	all := map[string]flow.Tool{}
	for _, names := range [][]string{{"read", "write"}, {"read", "server_read", "list"}, {"read"}} {
		said := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: names[len(names)-1]}}}
		session := connected(t, server(nil, answering(said, nil), names...))
		tools, err := mcp.Tools(t.Context(), session)
		require.NoError(t, err)
		mcp.Add(all, session, tools)
	}
	answers := map[string]string{}
	for name, tool := range all {
		text, err := use(t.Context(), tool, `{}`)
		require.NoError(t, err)
		answers[name] = text
	}
	assert.Equal(t, map[string]string{
		"read": "write", "write": "write", "server_read": "list", "list": "list", "server_read_2": "list", "server_read_3": "read",
	}, answers)
}

// TestNamesDoNotDependOnTheOrder: a server may list its tools in another order after a restart, and a conversation goes on.
func TestNamesDoNotDependOnTheOrder(t *testing.T) {
	names := []string{"tree.read", "tree_read", "tree/read", "tree read"}
	want := map[string]string{"tree_read": "tree_read", "tree_read_2": "tree read", "tree_read_3": "tree.read", "tree_read_4": "tree/read"}
	for range 4 {
		names = append(names[1:], names[0])
		s := listing(func(string) *sdk.ListToolsResult {
			out := &sdk.ListToolsResult{}
			for _, name := range append([]string{names[0]}, names...) { // the first twice
				out.Tools = append(out.Tools, &sdk.Tool{Name: name, Description: name, InputSchema: map[string]any{"type": "object"}})
			}
			return out
		})
		tools, err := mcp.Tools(t.Context(), connected(t, s))
		require.NoError(t, err)
		got := map[string]string{}
		for name, tool := range tools {
			got[name] = tool.Describe().Description
		}
		assert.Equal(t, want, got)
	}
}

// TestSchemasOfServers: what vendors take in no form leaves out its tool alone.
func TestSchemasOfServers(t *testing.T) {
	schemas := map[string]any{
		"bare": map[string]any{"type": "object"}, "either": map[string]any{"anyOf": []any{map[string]any{"properties": map[string]any{"a": map[string]any{}}}}},
		"list": []any{1}, "truth": true, "text": map[string]any{"type": "string"}, "long": map[string]any{"description": strings.Repeat("x", 65<<10)},
	}
	tools, err := mcp.Tools(t.Context(), connected(t, listing(func(string) *sdk.ListToolsResult {
		out := &sdk.ListToolsResult{}
		for name, schema := range schemas {
			out.Tools = append(out.Tools, &sdk.Tool{Name: name, InputSchema: schema})
		}
		return out
	})))
	require.NoError(t, err)
	require.Len(t, tools, len(schemas))
	for name, want := range map[string]string{
		"bare": `{"type":"object","properties":{}}`, "either": `{"type":"object","properties":{"a":{}}}`, "truth": `{"type":"object","properties":{}}`,
	} {
		assert.JSONEq(t, want, string(tools[name].Describe().Parameters), name)
		assert.Empty(t, tools[name].Describe().LeftOut, name)
	}
	for name, want := range map[string]string{"list": "no JSON schema of an object", "text": "no JSON schema of an object", "long": "more than 65536 bytes"} {
		assert.Contains(t, tools[name].Describe().LeftOut, want, name)
	}
	engine := &debate.Engine{Tools: tools}
	_, err = engine.New(debate.Config{})
	require.NoError(t, err, "an engine takes all of them")
	require.NoError(t, engine.Shutdown(t.Context()))
}

// TestArgumentsWithOddNames: models are told names that vendors take, and the server gets its own.
func TestArgumentsWithOddNames(t *testing.T) {
	s := sdk.NewServer(&sdk.Implementation{Name: "server", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "list", InputSchema: json.RawMessage(`{"type":"object","properties":{"filter[id]":{"type":"string"},"$top":{"type":"integer"},"all":{"type":"boolean"}},"required":["$top"]}`)},
		func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(req.Params.Arguments)}}}, nil
		})
	tools, err := mcp.Tools(t.Context(), connected(t, s))
	require.NoError(t, err)
	assert.JSONEq(t, `{"type":"object","properties":{"filter_id":{"type":"string"},"top":{"type":"integer"},"all":{"type":"boolean"}},"required":["top"]}`,
		string(tools["list"].Describe().Parameters))
	text, err := use(t.Context(), tools["list"], `{"filter_id":"7","top":9007199254740993,"all":true}`)
	require.NoError(t, err)
	assert.Equal(t, `{"$top":9007199254740993,"all":true,"filter[id]":"7"}`, text) //nolint:testifylint // byte for byte
}

// TestToolsOfTheGoSDK: the official SDK lists a tool without arguments without properties, which vendors refuse.
func TestToolsOfTheGoSDK(t *testing.T) {
	s := sdk.NewServer(&sdk.Implementation{Name: "server", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "now"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{}, nil, nil
	})
	tools, err := mcp.Tools(t.Context(), connected(t, s))
	require.NoError(t, err)
	assert.JSONEq(t, `{"type":"object","properties":{},"additionalProperties":false}`, string(tools["now"].Describe().Parameters))
}

func TestListsThatCannotBeUsed(t *testing.T) {
	object := map[string]any{"type": "object"}
	many := make([]*sdk.Tool, 1001)
	for i := range many {
		many[i] = &sdk.Tool{Name: fmt.Sprint(i), InputSchema: object}
	}
	for name, c := range map[string]struct {
		tools []*sdk.Tool
		next  string
		want  string
	}{
		"no name":  {[]*sdk.Tool{{InputSchema: object}}, "", "one has no name"},
		"too many": {many, "", "there are more than 1000"},
		"no end":   {nil, "again", "more than 100 pages"},
	} {
		t.Run(name, func(t *testing.T) {
			tools, err := mcp.Tools(t.Context(), connected(t, listing(func(string) *sdk.ListToolsResult {
				return &sdk.ListToolsResult{Tools: c.tools, NextCursor: c.next}
			})))
			require.ErrorContains(t, err, c.want)
			assert.Less(t, len(err.Error()), 400)
			var failure *flow.Error
			require.ErrorAs(t, err, &failure)
			assert.Equal(t, provider.KindValidation, failure.Kind)
			assert.Equal(t, "tools", failure.Field)
			assert.Nil(t, tools)
		})
	}
	_, err := mcp.Tools(t.Context(), nil)
	require.ErrorContains(t, err, "session: there is none")
	session := connected(t, greeter())
	require.NoError(t, session.Close())
	_, err = mcp.Tools(t.Context(), session)
	require.ErrorIs(t, err, sdk.ErrConnectionClosed)
}

func TestWhatServersLeaveOutOrOverdo(t *testing.T) {
	tools, err := mcp.Tools(t.Context(), connected(t, listing(func(string) *sdk.ListToolsResult {
		return &sdk.ListToolsResult{Tools: []*sdk.Tool{nil, {Name: "bare"}, {Name: "chatty", Description: strings.Repeat("é", 1<<20)}}}
	})))
	require.NoError(t, err)
	require.Len(t, tools, 2)
	assert.JSONEq(t, `{"type":"object","properties":{}}`, string(tools["bare"].Describe().Parameters))
	assert.False(t, tools["bare"].Describe().ReadOnly)
	description := tools["chatty"].Describe().Description
	assert.LessOrEqual(t, len(description), 4<<10)
	assert.Contains(t, description, "more bytes are left out]")
}

func TestAnswers(t *testing.T) {
	size := int64(7)
	for name, c := range map[string]struct {
		result sdk.CallToolResult
		want   string
	}{
		"texts": {sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "one"}, &sdk.TextContent{Text: "two\n"}}}, "one\ntwo\n"},
		"other kinds": {sdk.CallToolResult{Content: []sdk.Content{
			&sdk.TextContent{Text: "see"},
			&sdk.ImageContent{Data: []byte("abc"), MIMEType: "image/png"},
			&sdk.AudioContent{Data: []byte("abcd"), MIMEType: "audio/wav"},
			&sdk.ResourceLink{URI: "file:///a", Name: "a", Title: "The\nletter A", MIMEType: "text/plain", Size: &size},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///b", MIMEType: "text/plain", Text: "inside"}},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///c", Blob: []byte("xy")}},
		}}, "see\n[image image/png, 3 bytes, not shown]\n[audio audio/wav, 4 bytes, not shown]\n[link to file:///a, The letter A, text/plain]\n" +
			"[resource file:///b, text/plain]\ninside\n[resource file:///c, 2 bytes]"},
		"structured alone":  {sdk.CallToolResult{StructuredContent: map[string]any{"sum": 3}}, `{"sum":3}`},
		"structured beside": {sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "3"}}, StructuredContent: map[string]any{"sum": 3}}, "3"},
		"nothing":           {sdk.CallToolResult{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := use(t.Context(), only(t, &c.result, nil), `{}`)
			require.NoError(t, err)
			assert.Equal(t, c.want, text)
		})
	}
	text, err := use(t.Context(), only(t, &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Repeat("é", 1<<20)}}}, nil), `{}`)
	require.NoError(t, err)
	assert.LessOrEqual(t, len(text), 32<<10)
	assert.True(t, strings.HasSuffix(text, "é\n[… 2064444 more bytes are left out]"), text[len(text)-60:])
}

func TestFailures(t *testing.T) {
	failed := func(parts ...sdk.Content) *sdk.CallToolResult {
		return &sdk.CallToolResult{IsError: true, Content: parts}
	}
	for want, used := range map[string]flow.Tool{
		"the disk is full":                          only(t, failed(&sdk.TextContent{Text: "the disk is full"}), nil),
		"the tool has failed, and does not say why": only(t, failed(), nil),
		"[image image/png, 0 bytes, not shown]":     only(t, failed(&sdk.ImageContent{MIMEType: "image/png"}), nil),
		"the tool's server refuses: no such luck":   only(t, nil, errors.New("no such luck")),
		"the tool's server refuses: over the limit": only(t, nil, &jsonrpc.Error{Code: -32000, Message: "over the limit"}),
	} {
		text, err := use(t.Context(), used, `{}`)
		require.EqualError(t, err, want)
		assert.Empty(t, text)
	}
	_, err := use(t.Context(), only(t, nil, &jsonrpc.Error{Code: -32000, Message: strings.Repeat("x", 1<<20)}), `{}`)
	require.Error(t, err)
	assert.Less(t, len(err.Error()), 5<<10)
}

// A tool that asks whoever uses it gets no answer.
func TestToolsThatAsk(t *testing.T) {
	curious := only(t, &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"q": &sdk.ElicitParams{
		Message: "What is your password?", RequestedSchema: map[string]any{"type": "object"},
	}}}, nil)
	text, err := use(t.Context(), curious, `{}`)
	require.EqualError(t, err, "the tool asks a question, and nobody here answers it")
	assert.Empty(t, text)
}

func TestArguments(t *testing.T) {
	echo := server(nil, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(req.Params.Arguments)}}}, nil
	}, "echo")
	tools, err := mcp.Tools(t.Context(), connected(t, echo))
	require.NoError(t, err)
	for arguments, want := range map[string]string{
		``: `{}`, `{}`: `{}`, `{"b":9007199254740993,"a":[null,"é"]}`: `{"b":9007199254740993,"a":[null,"é"]}`,
	} {
		text, err := use(t.Context(), tools["echo"], arguments)
		require.NoError(t, err)
		assert.Equal(t, want, text, "as the model wrote them")
	}
	for _, arguments := range []string{`[]`, `null`, `"x"`, `{`, `1`, "\xff"} {
		_, err := use(t.Context(), tools["echo"], arguments)
		require.EqualError(t, err, "the arguments are no JSON object", arguments)
	}
}

// A use ends with its context, and the server is told.
func TestUsesEndWithTheirContext(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan struct{})
	slow := server(nil, func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		close(begun)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}, "slow")
	tools, err := mcp.Tools(t.Context(), connected(t, slow))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-begun
		cancel()
	}()
	_, err = use(ctx, tools["slow"], `{}`)
	require.EqualError(t, err, context.Canceled.Error())
	<-ended
	_, err = mcp.Tools(ctx, connected(t, greeter()))
	require.ErrorIs(t, err, context.Canceled)
}

// Over HTTP it works the same, and what goes wrong does not tell models where the server is.
func TestServersOverHTTP(t *testing.T) {
	served := greeter()
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return served }, nil)
	var broken atomic.Bool
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if broken.Load() && req.Method == http.MethodPost {
			http.Error(w, "overloaded at "+req.URL.String(), http.StatusServiceUnavailable)
			return
		}
		handler.ServeHTTP(w, req)
	}))
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	session, err := mcp.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: web.URL + "/mcp?key=sesame", HTTPClient: client, MaxRetries: -1, DisableStandaloneSSE: true,
	})
	require.NoError(t, err)
	tools, err := mcp.Tools(t.Context(), session)
	require.NoError(t, err)
	text, err := use(t.Context(), tools["greet"], `{"name":"Ada"}`)
	require.NoError(t, err)
	assert.Equal(t, "Hello, Ada!", text)
	_, err = use(t.Context(), tools["greet"], `{"who":"Ada"}`)
	require.ErrorContains(t, err, "who", "the server says what is wrong with the arguments")

	broken.Store(true)
	_, err = use(t.Context(), tools["greet"], `{"name":"Ada"}`)
	require.EqualError(t, err, "the tool's server gave no answer")
	assert.Contains(t, errors.Unwrap(err).Error(), "Service Unavailable", "whoever runs the engine can find out")
	web.CloseClientConnections()
	web.Close()
	_, err = use(t.Context(), tools["greet"], `{"name":"Ada"}`)
	require.EqualError(t, err, "the tool's server gave no answer")
	_ = session.Close() // it cannot say goodbye
	for s := range served.Sessions() {
		require.NoError(t, s.Close())
	}
}
