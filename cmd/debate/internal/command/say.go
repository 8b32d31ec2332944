package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
)

// say says something in between, as somebody who takes no part.
func (p *program) say() *cobra.Command {
	var note flow.Note
	c := &cobra.Command{
		Use: "say id text", Args: arguments(cobra.ExactArgs(2)), ValidArgsFunction: p.completeIDs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if note.Text, err = p.text(args[1:], "note"); err != nil {
				return err
			}
			if !c.Flags().Changed("person") {
				note.Person = p.user()
			}
			return p.controlOne(c, args, unfinished(), note)
		},
	}
	flags := c.Flags()
	flags.StringVar(&note.As, "as", "", "the name under which it is read; else \"A listener\"")
	flags.StringSliceVar(&note.To, "to", nil, "the `participants` who read it; else all")
	flags.StringVar(&note.Ask, "ask", "", "the `participant` who answers it at once, where the format has that")
	personFlag(c, &note.Person)
	return c
}

// personFlag adds the flag that names who does what the command does. It may be blank: nobody need be named.
func personFlag(c *cobra.Command, person *string) {
	c.Flags().StringVar(person, "person", "", "the name that the log keeps of whoever does this: by default that of the system's user")
	_ = c.Flags().SetAnnotation("person", mayBeBlank, []string{"true"})
}

// reopen goes on with a conversation after its result.
func (p *program) reopen() *cobra.Command {
	var o flow.Reopening
	var budget string
	c := &cobra.Command{
		Use: "reopen id", Args: arguments(cobra.ExactArgs(1)), ValidArgsFunction: p.completeIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.checkOutputs(); err != nil {
				return err
			}
			if budget != "" {
				o.Budget = &flow.Budget{}
				if err := o.Budget.Hard.UnmarshalJSON([]byte(budget)); err != nil {
					return exit(exitArguments, fmt.Errorf("--budget %q: want an amount of USD such as 2.50", budget))
				}
			}
			if !c.Flags().Changed("person") {
				o.Person = p.user()
			}
			return p.reopened(c.Context(), args, o)
		},
	}
	flags := c.Flags()
	flags.IntVar(&o.Rounds, "rounds", 0, "how many further rounds there are")
	flags.StringVar(&o.Ask, "ask", "", "what is asked now; in a debate, of one participant, in place of further rounds")
	flags.StringVar(&o.To, "to", "", "the `participant` of a debate who answers it")
	flags.StringVar(&budget, "budget", "", "the most that may be spent, in `USD`, with what was spent before the result")
	personFlag(c, &o.Person)
	p.runFlags(c)
	p.outputFlags(c)
	return c
}

// reopened goes on with the conversation that the arguments name.
func (p *program) reopened(ctx context.Context, args []string, o flow.Reopening) error {
	return p.onOne(ctx, args, choice{last: anyNewest().last}, func(ctx context.Context, engine *debate.Engine, id string) error {
		session, err := engine.Reopen(ctx, id, o)
		switch {
		case errors.Is(err, flow.ErrMissing):
			return exit(exitConfig, err)
		case err != nil:
			return refused(err)
		}
		p.warnf("%s goes on after the result of %s.", shortID(session.ID()), shortID(id))
		return p.deliver(ctx, engine, session.ID(), p.lead(ctx, session))
	})
}
