package command

import (
	"github.com/spf13/cobra"
)

// debateFlags are the flags of the command that starts a conversation.
type debateFlags struct {
	configFlags
}

// debate starts a conversation and leads it to its end.
func (p *program) debate() *cobra.Command {
	var f debateFlags
	c := &cobra.Command{
		Use:   "debate [problem]",
		Short: "Have agents work out a solution, and print it",
		Args:  arguments(cobra.MaximumNArgs(1)),
		RunE:  func(c *cobra.Command, args []string) error { return p.runDebate(c, args, &f) },
	}
	f.define(c)
	p.tools.define(c)
	p.viewFlags(c)
	p.outputFlags(c)
	return c
}

func (p *program) runDebate(c *cobra.Command, args []string, f *debateFlags) error {
	if err := p.outputs.check(); err != nil {
		return err
	}
	source, problem, err := p.source(args, &f.configFlags)
	if err != nil {
		return err
	}
	engine := p.engine()
	settings, problems := p.load(c, source, problem, engine, &f.configFlags)
	if settings == nil {
		return problems
	}
	closing, err := p.attachStore(c.Context(), engine)
	if err != nil {
		return err
	}
	defer closing()
	if err := check(c.Context(), settings, engine, problems); err != nil {
		return err
	}
	config, err := p.tools.offer(engine, settings.Config)
	if err != nil {
		return err
	}
	session, err := engine.Start(c.Context(), config)
	if err != nil {
		return err
	}
	p.warnf("The conversation is kept in %s as %s.", p.place(), session.ID())
	return p.deliver(c.Context(), engine, session.ID(), p.lead(c.Context(), session))
}
