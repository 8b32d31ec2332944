package command

import (
	"context"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
)

// Tree returns the root of all commands.
func Tree() *cobra.Command { return (&program{}).tree() }

// Finish ends the command that leads a session which has failed without a record.
func Finish(out io.Writer, session *debate.Session, err error) error {
	return (&leader{program: &program{System: System{Err: out}}, session: session}).finish(nil, err)
}

// BeginServer begins a session with an MCP server, and lists its tools.
func BeginServer(ctx context.Context, address string, transport sdk.Transport, say func(format string, args ...any)) error {
	_, err := (&server{address: address, say: say, start: serverStart}).begin(ctx, transport)
	return err
}
