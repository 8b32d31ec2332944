package command

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
)

// Tree returns the root of all commands.
func Tree() *cobra.Command { return (&program{}).tree() }

// BeginServer begins a session with an MCP server, and lists its tools.
func BeginServer(ctx context.Context, address string, transport sdk.Transport, say func(format string, args ...any)) error {
	_, err := (&server{address: address, say: say}).begin(ctx, transport)
	return err
}
