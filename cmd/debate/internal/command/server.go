package command

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/tool/mcp"
)

// Bounds of the dealings with an MCP server.
const (
	serverStart  = 30 * time.Second // until it has listed its tools
	serverEnd    = time.Second      // that its process has to end by itself
	toolNameSize = 64               // characters, as vendors allow them
)

// ofServer begins a session with an MCP server, and adds its tools. Those that may change something need approval, unless
// --approve is set. A tool whose name is taken gets that of its server before it. The returned function ends the session.
func (f *toolFlags) ofServer(ctx context.Context, address string, into map[string]flow.Tool) (end func(), err error) {
	transport, err := transportTo(address)
	if err != nil {
		return nil, exit(exitArguments, fmt.Errorf("--mcp %q: %w", address, err))
	}
	defer func() {
		if err != nil {
			err = exit(exitGeneral, fmt.Errorf("--mcp %q: %w", address, err))
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, serverStart)
	defer cancel()
	session, err := mcp.Connect(ctx, transport)
	if err != nil {
		return nil, fmt.Errorf("no session could be begun: %w", err)
	}
	end = func() { _ = session.Close() }
	tools, err := mcp.Tools(ctx, session)
	if err != nil {
		end()
		return nil, fmt.Errorf("list its tools: %w", err)
	}
	for name, t := range tools {
		if into[name] != nil {
			name = prefixed(session, name)
		}
		if into[name] != nil {
			end()
			return nil, fmt.Errorf("two tools would have the name %q", name)
		}
		if !t.Describe().ReadOnly && !f.approve {
			t = flow.WithApproval(t)
		}
		into[name] = t
	}
	return end, nil
}

// transportTo returns the way to an MCP server: the URL of one, or a command whose standard input and output are used.
func transportTo(address string) (sdk.Transport, error) {
	if strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://") {
		return &sdk.StreamableClientTransport{Endpoint: address}, nil
	}
	words, err := splitWords(address)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("want the URL of an MCP server, or the command that starts one")
	}
	command := exec.Command(words[0], words[1:]...) //nolint:gosec,noctx // the user's own command, which lasts as long as the session
	apart(command)
	return &sdk.CommandTransport{Command: command, TerminateDuration: serverEnd}, nil
}

// prefixed returns the name of a tool with that of its server before it.
func prefixed(session *sdk.ClientSession, name string) string {
	server := "mcp"
	if said := session.InitializeResult(); said != nil && said.ServerInfo != nil && said.ServerInfo.Name != "" {
		server = said.ServerInfo.Name
	}
	whole := slices.Concat([]rune(server), []rune{'_'}, []rune(name))
	for i, r := range whole {
		if !strings.ContainsRune("-_", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			whole[i] = '_'
		}
	}
	return string(whole[:min(len(whole), toolNameSize)])
}

// splitWords divides a command line into words. Quotes keep spaces in a word. No shell reads it: there are no variables, and
// a backslash is a character like others.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, begun := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if begun {
				words = append(words, word.String())
				word.Reset()
			}
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %c is not closed", quote)
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}
