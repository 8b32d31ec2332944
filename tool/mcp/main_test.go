package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/tool/mcp"
)

// serve is set where this program is to be a server over its standard input and output.
const serve = "DEBATE_TEST_MCP_SERVER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(serve); mode != "" {
		if mode == "noisy" {
			noise()
		}
		if mode == "ends" {
			fmt.Fprint(os.Stderr, strings.Repeat("It looks for its drawer.\n", 100)+"There is none.\n\n")
			os.Exit(3)
		}
		if err := greeter().Run(context.Background(), &sdk.StdioTransport{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(patient{m})
}

// patient runs the tests, and gives what they have ended two minutes to be gone, however busy the machine is.
type patient struct{ *testing.M }

func (p patient) Run() int {
	code := p.M.Run()
	for tries := 0; tries < 300 && goleak.Find() != nil; tries++ { // each of which takes 0.4 s
		continue
	}
	return code
}

// noise prints what servers print on their standard output: azure-devops-mcp#147, mcp-mermaid#25 and browser-tools-mcp#239 (2026-07) are
// about such lines. The last has no line break, and a message follows it.
func noise() {
	fmt.Print("Grove server 2.1 is up\n\n   \n[info] cache {is} warm\n{\"level\":\"info\",\"msg\":\"listening\"}\n[1,2]\nnull\n\ufeff\x1b[32mready\x1b[0m\r\nLoading...")
}

type person struct {
	Name string `json:"name" jsonschema:"whom to greet"`
}

// greeter is a server with one tool.
func greeter() *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "greeter", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{
		Name: "greet", Description: "Says hello.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true},
	}, func(_ context.Context, _ *sdk.CallToolRequest, who person) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "Hello, " + who.Name + "!"}}}, nil, nil
	})
	return server
}

// connected is a session with a server in this process.
func connected(t testing.TB, server *sdk.Server) *sdk.ClientSession {
	t.Helper()
	here, there := sdk.NewInMemoryTransports()
	serving, err := server.Connect(t.Context(), there, nil)
	require.NoError(t, err)
	session, err := mcp.Connect(t.Context(), here)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, session.Close())
		_ = serving.Wait()
	})
	return session
}

// TestServersThatPrint: what is no message is skipped, as the official SDKs for Python and TypeScript do.
func TestServersThatPrint(t *testing.T) {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), serve+"=noisy")
	transport := &mcp.CommandTransport{Command: command, TerminateDuration: time.Hour}
	session, err := mcp.Connect(t.Context(), transport)
	require.NoError(t, err)
	tools, err := mcp.Tools(t.Context(), session)
	require.NoError(t, err)
	text, err := use(t.Context(), tools["greet"], `{"name":"Ada"}`)
	require.NoError(t, err)
	assert.Equal(t, "Hello, Ada!", text)
	require.NoError(t, session.Close())
	assert.True(t, command.ProcessState.Success())
	assert.False(t, transport.Ended(), "it was ended")
}

// TestServersThatEnd: that a server has ended by itself is told apart from the end of its session.
func TestServersThatEnd(t *testing.T) {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), serve+"=ends")
	transport := &mcp.CommandTransport{Command: command, TerminateDuration: time.Hour}
	_, _, err := mcp.Open(t.Context(), transport)
	require.EqualError(t, err, "the server has ended (exit status 3) and not begun a session. It said: There is none.")
	assert.True(t, transport.Ended())
	assert.Equal(t, 3, command.ProcessState.ExitCode())
	_, _, err = mcp.Open(t.Context(), &mcp.CommandTransport{Command: exec.Command("no-such-server")})
	require.ErrorIs(t, err, exec.ErrNotFound)
	assert.ErrorContains(t, err, "the server has not begun a session: ")
}

// TestServersThatAreSilent: a caller that gives up finds the cause it gave in the error.
func TestServersThatAreSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := sdk.NewInMemoryTransports()
		silent, err := there.Connect(t.Context())
		require.NoError(t, err)
		go func() { // it reads, and answers nothing
			for {
				if _, err := silent.Read(t.Context()); err != nil {
					return
				}
			}
		}()
		late := errors.New("it is too late")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, late)
		defer cancel()
		_, _, err = mcp.Open(ctx, here)
		synctest.Wait()
		require.ErrorIs(t, err, late)
		require.EqualError(t, err, "the server has not begun a session: it is too late")
		require.NoError(t, silent.Close())
	})
}

// TestServersWithoutAList: a session whose tools cannot be listed is closed.
func TestServersWithoutAList(t *testing.T) {
	here, there := sdk.NewInMemoryTransports()
	nameless := listing(func(string) *sdk.ListToolsResult { return &sdk.ListToolsResult{Tools: []*sdk.Tool{{}}} })
	serving, err := nameless.Connect(t.Context(), there, nil)
	require.NoError(t, err)
	_, _, err = mcp.Open(t.Context(), here)
	require.ErrorContains(t, err, "the server has not listed its tools: ")
	require.ErrorIs(t, err, &flow.Error{Kind: provider.KindValidation})
	_ = serving.Wait() // it returns, because the session is closed
}

// TestAddresses: a server is named by its URL or its command line.
func TestAddresses(t *testing.T) {
	transport, err := mcp.TransportTo("https://tools.example/mcp")
	require.NoError(t, err)
	require.IsType(t, &sdk.StreamableClientTransport{}, transport)
	for line, words := range map[string][]string{
		"desk":                          {"desk"},
		" desk  --of 'the test'\t-x ":   {"desk", "--of", "the test", "-x"},
		`"my desk" a"b 'c"d ''`:         {"my desk", "ab 'cd", ""},
		`C:\desk $HOME 'it''s' \\ \"q"`: {`C:\desk`, "$HOME", "its", `\\`, `\q`},
	} {
		transport, err := mcp.TransportTo(line)
		require.NoError(t, err, line)
		command, ok := transport.(*mcp.CommandTransport)
		require.True(t, ok, line)
		assert.Equal(t, words, command.Command.Args, line)
	}
	for line, says := range map[string]string{
		"":        "want the URL of an MCP server, or the command that starts one",
		`"" desk`: "want the URL of an MCP server, or the command that starts one",
		"desk 'a": "a quote ' is not closed",
	} {
		_, err := mcp.TransportTo(line)
		require.ErrorIs(t, err, &flow.Error{Kind: provider.KindValidation}, line)
		assert.ErrorContains(t, err, says, line)
	}
}

func TestServersInOtherProcesses(t *testing.T) {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), serve+"=1")
	session, err := mcp.Connect(t.Context(), &sdk.CommandTransport{Command: command, TerminateDuration: time.Hour})
	require.NoError(t, err)
	tools, err := mcp.Tools(t.Context(), session)
	require.NoError(t, err)
	text, err := use(t.Context(), tools["greet"], `{"name":"Ada"}`)
	require.NoError(t, err)
	assert.Equal(t, "Hello, Ada!", text)
	require.NoError(t, session.Close())
	_, err = use(t.Context(), tools["greet"], `{"name":"Ada"}`)
	require.EqualError(t, err, "the tool's server gave no answer")
	require.ErrorIs(t, err, mcp.ErrNoAnswer)
	require.ErrorIs(t, err, sdk.ErrConnectionClosed)
}
