package command

import (
	"context"

	"github.com/spf13/cobra"
)

// debate starts a conversation and leads it to its end.
func (p *program) debate() *cobra.Command {
	var f configFlags
	c := &cobra.Command{
		Use: "debate [problem]", Args: oneProblem(arguments(aboutInput)),
		RunE: func(c *cobra.Command, args []string) error {
			args, err := p.meant(c, args)
			if err != nil {
				return err
			}
			return p.runDebate(c, args, &f)
		},
	}
	f.define(c)
	p.tools.define(c)
	p.viewFlags(c)
	p.outputFlags(c)
	return c
}

// aboutInput takes a problem, and a "-" behind it: the standard input has more, and is waited for.
func aboutInput(c *cobra.Command, args []string) error {
	if len(args) == 2 && args[1] == "-" {
		return nil
	}
	return cobra.MaximumNArgs(1)(c, args)
}

func (p *program) runDebate(c *cobra.Command, args []string, f *configFlags) error {
	source, problem, err := p.source(args, f, "")
	if err != nil {
		return err
	}
	if err := p.readBeside(c.Context(), args, f); err != nil {
		return err
	}
	engine := p.engine()
	settings, problems := p.load(c, source, problem, engine, f)
	if settings == nil {
		return problems
	}
	p.reads(settings.Agents...)
	if err := p.checkOutputs(); err != nil {
		return err
	}
	offered := p.reach(settings)
	closing, err := p.equip(c.Context(), engine, p.makeStore)
	if err != nil {
		return err
	}
	defer closing()
	if offered {
		if settings.Config, err = p.tools.offer(engine, settings.Config); err != nil {
			return err
		}
	}
	if err := p.mistakes(c.Context(), settings, engine, problems); err != nil {
		return err
	}
	if err := p.untouched(); err != nil {
		return err
	}
	p.tell(settings)
	session, err := engine.Start(c.Context(), settings.Config)
	if err != nil {
		return err
	}
	if p.store != notKept {
		p.notef("The conversation is kept in %s as %s.", shown(p.place()), idOn(p.Err, session.ID()))
	}
	return p.deliver(c.Context(), engine, session.ID(), p.lead(c.Context(), session))
}

// readBeside reads what the standard input has beside the problem, unless that came from there, or answers do.
func (p *program) readBeside(ctx context.Context, args []string, f *configFlags) (err error) {
	if !p.viewing.inputRead && !f.wish.Clarify {
		f.input, err = p.input(ctx, len(args) > 1)
	}
	return err
}
