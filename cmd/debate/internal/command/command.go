package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
)

// program is one run of the program.
type program struct {
	System

	store string // the flag --store
	json  bool   // the flag --json
	tools toolFlags

	viewing viewing
	outputs outputs
}

// Run carries out the command line and returns the exit code.
func Run(ctx context.Context, system System) int {
	p := &program{System: system}
	p.viewing.began = time.Now().Truncate(time.Millisecond)
	root := p.tree()
	root.SetArgs(system.Args)
	root.SetIn(system.In)
	root.SetOut(system.Out)
	root.SetErr(system.Err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	if text := strings.TrimSpace(err.Error()); text != "" {
		for line := range strings.Lines(text) {
			p.warnf("%s", line)
		}
	}
	return codeOf(err)
}

// tree returns the commands. The root is the command debate itself.
func (p *program) tree() *cobra.Command {
	root := p.debate()
	root.Use = "debate [problem]"
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.HiddenDefaultCmd = false
	root.PersistentFlags().StringVar(&p.store, "store", "",
		"where conversations are kept: a file of SQLite, a folder, or the URL of a PostgreSQL database")
	root.PersistentFlags().BoolVar(&p.json, "json", false, "print events, or the result of a command, as JSON")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit(exitArguments, err) })
	root.AddCommand(
		p.resume(), p.list(), p.show(), p.watch(), p.answer(), p.choose(), p.pause(), p.stop(), p.cancel(), p.retry(), p.amend(),
		p.skipStep(), p.forceAgent(), p.rerunStep(), p.delete(), p.eval(), p.replay(), p.fork(), p.graph(), p.listModels(), p.version(),
		p.completion(), p.config(), p.estimate(), p.export(), p.importFile(), p.report(),
	)
	return root
}

// warnf writes a line for a person to the standard error.
func (p *program) warnf(format string, args ...any) {
	_, _ = fmt.Fprintln(p.Err, progress.Clean(fmt.Sprintf(format, args...)))
}

// arguments makes a mistake in the number of arguments one of the command line.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return exit(exitArguments, errors.New(err.Error()+"; see debate "+c.Name()+" --help"))
		}
		return nil
	}
}

// exclusive makes two flags that exclude each other a mistake of the command line.
func exclusive(c *cobra.Command, one, other string) error {
	if c.Flags().Changed(one) && c.Flags().Changed(other) {
		return exit(exitArguments, fmt.Errorf("--%s and --%s exclude each other", one, other))
	}
	return nil
}
