package command

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// The bounds of what a shell waits for.
const (
	mostCompletions = 50
	completionTime  = 2 * time.Second
)

// completion prints the script that lets a shell complete the program's commands.
func (p *program) completion() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use: "completion bash|zsh|fish|powershell", Short: "Print the script with which a shell completes commands, flags and ids",
		Long: `Print the script with which a shell completes commands, flags, the ids of
conversations, their open questions, and the names of agents. Ids and names
are looked up in the store while you type.`,
		Example: `  source <(debate completion bash)
  debate completion zsh > "${fpath[1]}/_debate"
  debate completion fish > ~/.config/fish/completions/debate.fish
  debate completion powershell | Out-String | Invoke-Expression`,
		Args:      arguments(cobra.ExactArgs(1)),
		ValidArgs: shells,
		RunE: func(c *cobra.Command, args []string) error {
			root := c.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(p.Out, true)
			case "zsh":
				return root.GenZshCompletion(p.Out)
			case "fish":
				return root.GenFishCompletion(p.Out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(p.Out)
			default:
				return exit(exitArguments, fmt.Errorf("there is no completion for %q; the shells are: %s", args[0], strings.Join(shells, ", ")))
			}
		},
	}
}

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

// ids returns the newest conversations whose ids begin so, with their state and topic.
func (p *program) ids(ctx context.Context, begun string) []cobra.Completion {
	kept, closing, err := p.openStore(ctx)
	if err != nil {
		return nil
	}
	defer closing()
	var out []cobra.Completion
	for info, err := range kept.List(ctx, store.Filter{Newest: true}) {
		if err != nil || len(out) == mostCompletions || info.ID < begun {
			break
		}
		if strings.HasPrefix(info.ID, begun) {
			out = append(out, cobra.CompletionWithDesc(info.ID, short(string(info.State)+": "+info.Topic, 60)))
		}
	}
	return out
}

// completeOf completes what a conversation has, behind its id. from is how the command finds that.
func (p *program) completeOf(
	c *cobra.Command, args []string, begun string, from choice, of func(record *flow.Record) []cobra.Completion,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 || !p.exists() {
		return p.completeIDs(1)(c, args, begun)
	}
	ctx, stop := context.WithTimeout(c.Context(), completionTime)
	defer stop()
	engine, id, closing, err := p.openOne(ctx, args, from)
	if err != nil {
		return none()
	}
	defer closing()
	record, err := engine.Record(ctx, id)
	if err != nil {
		return none()
	}
	return of(record), cobra.ShellCompDirectiveNoFileComp
}

// completeInquiries completes an id, an open question, and one of its options.
func (p *program) completeInquiries(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return p.completeOf(c, args, begun, waiting(), func(record *flow.Record) []cobra.Completion {
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
		return out
	})
}

// completeSteered completes an id of arbitrated work, and then an agent or a step of its plan.
func (p *program) completeSteered(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return p.completeOf(c, args, begun, choice{last: unfinished().last}, func(record *flow.Record) []cobra.Completion {
		work, ok := arbiter.Of(record)
		if !ok || len(args) > 1 {
			return nil
		}
		if c.Name() == string(arbiter.TriggerForceAgent) {
			return agentsOf(work)
		}
		var out []cobra.Completion
		if plan := work.Plan(); plan != nil {
			for i := range plan.Steps {
				out = append(out, cobra.CompletionWithDesc(strconv.Itoa(i+1), short(plan.Steps[i].Description, 60)))
			}
		}
		return out
	})
}

// completeGraphs completes a flow or an id.
func (p *program) completeGraphs(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	ids, directive := p.completeIDs(1)(c, args, begun)
	if len(args) > 0 {
		return ids, directive
	}
	names := flowNames(&debate.Engine{Flows: ownFlows()})
	return append(slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, begun) }), ids...), directive
}
