package command

import (
	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// retry makes the calls again that a failure has stopped.
func (p *program) retry() *cobra.Command {
	var f controlFlags
	c := &cobra.Command{
		Use: "retry [id]", Short: "Try again what a failure has stopped: by default in the newest conversation that stopped so",
		Long: `Try again what a failure has stopped, and continue here unless another process
runs the conversation. Nothing that has a result is repeated. Without an id it
is the newest conversation in the state error. Calls that wait for an outage
to pass are made at once.`,
		Example:           `  debate retry 0198c2f1`,
		Args:              arguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: p.completeIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			from := choice{last: &store.Filter{States: []flow.State{flow.StateError}, Unfinished: true}, implied: true}
			engine, id, closing, err := p.openOne(c.Context(), args, from)
			if err != nil {
				return err
			}
			defer closing()
			return p.control(c.Context(), engine, id, flow.Retry{Reason: f.reason}, f.run)
		},
	}
	f.withReason(c)
	p.withRun(c, &f)
	return c
}
