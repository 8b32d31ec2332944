package tool

import (
	"context"

	"github.com/agonist-dev/debate/flow"
)

// changing makes a tool that changes something. A person must approve its uses unless it is unasked.
func changing[T any](
	about string, unasked, idempotent bool, run func(ctx context.Context, args T) (string, error),
) (flow.Tool, error) {
	info := flow.ToolInfo{Description: about, Approval: !unasked, Idempotent: idempotent}
	return flow.NewTool(info, func(ctx context.Context, _ flow.ToolUse, args T) (string, error) { return run(ctx, args) })
}
