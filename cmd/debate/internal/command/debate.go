package command

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate/cmd/debate/internal/demo"
	"github.com/agonist-dev/debate/cmd/debate/internal/settings"
)

// debateFlags are the flags of the command that starts a conversation.
type debateFlags struct {
	problemFile string
	demo        bool
	output      string
	rounds      int
	clarify     bool
}

// debate starts a conversation and leads it to its end.
func (p *program) debate() *cobra.Command {
	var f debateFlags
	c := &cobra.Command{
		Use:   "debate [problem]",
		Short: "Have agents work out a solution, and print it",
		Args:  arguments(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			var argument *string
			if len(args) > 0 {
				argument = &args[0]
			}
			return p.runDebate(c, argument, &f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.problemFile, "problemDescription", "", "read the problem from this file")
	flags.BoolVar(&f.demo, "demo", false, "without a key: play a script in place of models")
	flags.StringVar(&f.output, "output", "", "write the result to this file: the whole record if it ends in .json, else the solution")
	flags.IntVar(&f.rounds, "rounds", 0, "how many rounds there are at most")
	flags.BoolVar(&f.clarify, "clarify", false, "let the agents ask questions before the first round")
	p.tools.define(c)
	p.viewFlags(c)
	return c
}

func (p *program) runDebate(c *cobra.Command, argument *string, f *debateFlags) error {
	problem, err := p.problem(argument, f.problemFile)
	if err != nil {
		return err
	}
	engine, closing, err := p.open(c.Context())
	if err != nil {
		return err
	}
	defer closing()
	if f.demo {
		demo.Play(engine)
	}
	config, err := settings.Default(engine.Providers)
	if err != nil {
		return exit(exitConfig, err)
	}
	if c.Flags().Changed("rounds") && f.rounds < 1 {
		return exit(exitArguments, errors.New("--rounds is at least 1"))
	}
	attended, err := p.attend(f.clarify)
	if err != nil {
		return err
	}
	config.Problem, config.Rounds, config.Unattended = problem, f.rounds, !attended
	config.Clarification.On = f.clarify
	equipped, err := p.tools.offer(engine, config)
	if err != nil {
		return err
	}
	session, err := engine.Start(c.Context(), equipped)
	if err != nil {
		return err
	}
	p.warnf("The conversation is kept in %s as %s.", p.place(), session.ID())
	return p.lead(c.Context(), session)
}
