package command

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate/cmd/debate/internal/demo"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// resume continues a conversation.
func (p *program) resume() *cobra.Command {
	var played bool
	c := &cobra.Command{
		Use: "resume [id]", Short: "Continue a conversation: by default the newest one that is not over",
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			engine, closing, err := p.open(c.Context())
			if err != nil {
				return err
			}
			defer closing()
			if played {
				demo.Play(engine)
			}
			id := ""
			if len(args) > 0 {
				id = args[0]
			} else {
				for info, err := range engine.List(c.Context(), store.Filter{Newest: true, Unfinished: true, Limit: 1}) {
					if err != nil {
						return err
					}
					id = info.ID
				}
			}
			if id == "" {
				return exit(exitArguments, errors.New("there is no conversation to continue"))
			}
			session, err := engine.Open(c.Context(), id)
			if err != nil {
				return err
			}
			if session.State() == flow.StatePaused {
				if err := session.Resume(c.Context()); err != nil {
					return err
				}
			}
			return p.lead(c.Context(), session)
		},
	}
	p.tools.define(c)
	c.Flags().BoolVar(&played, "demo", false, "the conversation is one of --demo")
	p.viewFlags(c)
	return c
}
