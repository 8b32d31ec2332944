package command

import (
	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate/flow"
)

// resume continues a conversation.
func (p *program) resume() *cobra.Command {
	c := &cobra.Command{
		Use: "resume [id]", Short: "Continue a conversation: by default the newest one that is not over",
		Long: `Continue a conversation in this process: by default the newest one that is not
over. Only what is missing is asked again. One that is over only has its
result printed.`,
		Example: `  debate resume
  debate resume 0198c2f1`,
		Args:              arguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: p.completeIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.outputs.check(); err != nil {
				return err
			}
			engine, id, closing, err := p.openOne(c.Context(), args, unfinished())
			if err != nil {
				return err
			}
			defer closing()
			session, err := p.session(c.Context(), engine, id)
			if err != nil {
				return err
			}
			if session.State() == flow.StatePaused {
				if err := session.Resume(c.Context()); err != nil {
					return err
				}
			}
			return p.deliver(c.Context(), engine, session.ID(), p.lead(c.Context(), session))
		},
	}
	p.runFlags(c)
	p.outputFlags(c)
	return c
}
