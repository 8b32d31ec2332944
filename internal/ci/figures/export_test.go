package main

import (
	"context"
	"io"

	"github.com/agonist-dev/debate/provider"
)

// Run is what main does, for the tests.
func Run(
	ctx context.Context, folder string, args []string, measure func(context.Context) (figures, error), stdout, stderr io.Writer,
) int {
	return run(ctx, folder, args, measure, stdout, stderr)
}

// Costs measures debates with a provider.
func Costs(ctx context.Context, p provider.Provider) (figures, error) { return costs(ctx, p) }

// Rewrite parses a table and returns its text.
func Rewrite(text string) (string, error) {
	t, err := parse(text)
	return t.String(), err
}
