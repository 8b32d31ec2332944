package command

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/store"
)

// The bounds of what a shell waits for.
const (
	mostCompletions = 50
	completionTime  = 2 * time.Second
)

// completeIDs completes up to most ids of conversations; 0: any number.
func (p *program) completeIDs(most int) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, stop := context.WithTimeout(c.Context(), completionTime)
		defer stop()
		return p.ids(ctx, begun), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// ids returns the newest conversations whose ids begin so, or whose short ids do, with their state and topic.
func (p *program) ids(ctx context.Context, begun string) []cobra.Completion {
	kept, closing, err := p.openStore(ctx)
	if err != nil {
		return nil
	}
	defer closing()
	var out []cobra.Completion
	for info, err := range kept.List(ctx, store.Filter{Newest: true}) {
		if err != nil || len(out) == mostCompletions {
			break
		}
		for _, id := range []string{info.ID, shortID(info.ID)} {
			if strings.HasPrefix(id, begun) {
				out = append(out, cobra.CompletionWithDesc(id, progress.Shorten(string(info.State)+": "+info.Topic, 60)))
				break
			}
		}
	}
	return out
}

// completeFlag lets a shell complete the values of a flag. The shell picks those that begin as what was typed.
func completeFlag(c *cobra.Command, name string, values func() []string) {
	_ = c.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveNoFileComp
	}) // which fails only for a flag that is not there, or is completed already
}

// modelNames returns the names of the models that are built in, in their order. No vendor is asked.
func modelNames() []string {
	return slices.Sorted(maps.Keys(maps.Collect(flow.KnownModels())))
}

// formatNames returns the names of the formats of debates that are built in.
func formatNames() []string {
	var out []string
	for _, f := range format.Builtin() {
		out = append(out, f.Name)
	}
	return out
}
