package command

import (
	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate/flow"
)

// cancel ends a conversation without a conclusion. It wants an id: nothing undoes it.
func (p *program) cancel() *cobra.Command {
	var f controlFlags
	c := &cobra.Command{
		Use: "cancel id", Short: "End a conversation for good, without a result",
		Example:           `  debate cancel 0198c2f1 --reason "wrong question"`,
		Args:              arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: p.completeIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			engine, id, closing, err := p.openOne(c.Context(), args, choice{})
			if err != nil {
				return err
			}
			defer closing()
			return p.control(c.Context(), engine, id, flow.Cancel{Reason: f.reason}, false)
		},
	}
	f.withReason(c)
	return c
}
