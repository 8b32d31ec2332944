package main

import (
	"context"
	"io"
)

// Run is what main does, for the tests.
func Run(ctx context.Context, folder string, args []string, stdout, stderr io.Writer) int {
	return run(ctx, folder, args, stdout, stderr)
}
