package command

import (
	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate/flow"
)

// stop ends the rounds of a conversation. It wants an id: nothing undoes it.
func (p *program) stop() *cobra.Command {
	var f controlFlags
	c := &cobra.Command{
		Use: "stop id", Short: "End the rounds of a conversation now, and have it concluded with what there is",
		Example:           `  debate stop 0198c2f1 --reason "good enough"`,
		Args:              arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: p.completeIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			engine, id, closing, err := p.openOne(c.Context(), args, choice{})
			if err != nil {
				return err
			}
			defer closing()
			return p.control(c.Context(), engine, id, flow.Stop{Reason: f.reason}, false)
		},
	}
	f.withReason(c)
	return c
}
