package mcp

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agonist-dev/debate/flow"
)

// TransportTo returns the transport to a server that a person has named: by an http or https URL, or by the command line that starts the
// server. The transport to a command is a [*CommandTransport] whose Env is nil. Quotes keep spaces in a word of a command line. No shell
// reads it: there are no variables, and a backslash is a character like others.
//
// If the address is neither, TransportTo fails with a *flow.Error of kind validation.
func TransportTo(address string) (sdk.Transport, error) {
	if strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://") {
		return &sdk.StreamableClientTransport{Endpoint: address}, nil
	}
	words, err := split(address)
	if err == nil && (len(words) == 0 || words[0] == "") {
		err = errors.New("want the URL of an MCP server, or the command that starts one")
	}
	if err != nil {
		return nil, invalid("address", err)
	}
	return &CommandTransport{
		Command: exec.Command(words[0], words[1:]...), //nolint:gosec,noctx // the person's own command, which lasts as long as the session
	}, nil
}

// split divides a command line into words.
func split(line string) ([]string, error) {
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

// Open begins a session with a server, as [Connect] does, and returns its tools, as [Tools] does. ctx bounds both. The session belongs to
// the caller, who must close it after Engine.Shutdown.
//
// If Open fails, no session is left, and no command runs. The error says what the server has not done, and why: ctx is done
// (the error wraps [context.Cause]), the command of a [CommandTransport] has ended, or what the SDK reports. The last line that the
// command has written to its standard error stands behind it. The error is for an operator: it can hold an address and keys.
func Open(ctx context.Context, transport sdk.Transport) (*sdk.ClientSession, map[string]flow.Tool, error) {
	session, err := Connect(ctx, transport)
	if err != nil {
		return nil, nil, unopened(ctx, transport, "begun a session", err)
	}
	tools, err := Tools(ctx, session)
	if err != nil {
		_ = session.Close() // it has failed already
		return nil, nil, unopened(ctx, transport, "listed its tools", err)
	}
	return session, tools, nil
}

// unopened says what a server has not done, and why. Its session is closed.
func unopened(ctx context.Context, transport sdk.Transport, wanted string, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	err = fmt.Errorf("the server has not %s: %w", wanted, err)
	command, ok := transport.(*CommandTransport)
	if !ok {
		return err
	}
	if ctx.Err() == nil && command.Ended() && command.Command.ProcessState != nil { // the session's end has waited for the process
		err = fmt.Errorf("the server has ended (%v) and not %s", command.Command.ProcessState, wanted)
	}
	if last := command.words.last(); last != "" {
		err = fmt.Errorf("%w. It said: %s", err, last)
	}
	return err
}
