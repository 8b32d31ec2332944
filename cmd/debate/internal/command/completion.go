package command

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate/store"
)

// The bounds of what a shell waits for.
const (
	mostCompletions = 50
	completionTime  = 2 * time.Second
)

// none completes nothing, and no names of files either.
func none() ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// completeIDs completes up to most ids of conversations; 0: any number.
func (p *program) completeIDs(most int) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return none()
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
				out = append(out, cobra.CompletionWithDesc(id, short(string(info.State)+": "+info.Topic, 60)))
				break
			}
		}
	}
	return out
}

// completeInquiries completes an id, an open question, and one of its options.
func (p *program) completeInquiries(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 || !p.exists() {
		return p.completeIDs(1)(c, args, begun)
	}
	ctx, stop := context.WithTimeout(c.Context(), completionTime)
	defer stop()
	engine, id, closing, err := p.openOne(ctx, args, waiting())
	if err != nil {
		return none()
	}
	defer closing()
	record, err := engine.Record(ctx, id)
	if err != nil {
		return none()
	}
	var out []cobra.Completion
	for i := range record.Inquiries {
		q := &record.Inquiries[i]
		if len(args) == 1 {
			out = append(out, cobra.CompletionWithDesc(q.ID, short(q.Question, 60)))
		}
		if len(args) == 2 && args[1] == q.ID || len(args) == 1 && len(record.Inquiries) == 1 {
			for _, option := range q.Options {
				out = append(out, string(option))
			}
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
