package command

import (
	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate/flow"
)

// pause stops new calls of a conversation.
func (p *program) pause() *cobra.Command {
	var f controlFlags
	var drain bool
	c := &cobra.Command{
		Use: "pause [id]", Short: "Pause a conversation, wherever it runs: by default the newest one that is not over",
		Example:           `  debate pause 0198c2f1 --reason "waiting for the figures"`,
		Args:              arguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: p.completeIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			engine, id, closing, err := p.openOne(c.Context(), args, unfinished())
			if err != nil {
				return err
			}
			defer closing()
			return p.control(c.Context(), engine, id, flow.Pause{Drain: drain, Reason: f.reason}, false)
		},
	}
	c.Flags().BoolVar(&drain, "drain", false, "let the calls in flight finish; else they are aborted and paid for")
	f.withReason(c)
	return c
}
