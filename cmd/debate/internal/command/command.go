package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
)

// program is one run of the program.
type program struct {
	System

	store string // the flag --store, or that of the defaults
	json  bool   // the flag --json
	tools toolFlags
	usual defaults

	viewing viewing
	outputs outputs
	asides  asides
}

// Run carries out the command line and returns the exit code.
func Run(ctx context.Context, system System) int {
	p := &program{System: system, tools: toolFlags{start: system.ServerStart}}
	out := &output{to: system.Out}
	p.Out = out
	p.viewing.began = time.Now().Truncate(time.Millisecond)
	root := p.tree()
	root.SetArgs(system.Args)
	root.SetIn(system.In)
	root.SetOut(p.Out)
	root.SetErr(system.Err)
	err := cmp.Or(root.ExecuteContext(ctx), out.failed)
	if err == nil {
		return exitOK
	}
	// A reader that has gone away, such as head, wants no message.
	if text := strings.TrimSpace(err.Error()); text != "" && !errors.Is(err, syscall.EPIPE) {
		for line := range strings.Lines(text) {
			p.warnf("%s", line)
		}
		if advice := p.adviceOn(err); advice != "" {
			p.warnf("%s", advice)
		}
	}
	return codeOf(err)
}

// tree returns the commands. The root is the command debate itself.
func (p *program) tree() *cobra.Command {
	root := p.debate()
	root.Use = "debate [problem]"
	if root.Example == "" {
		root.Example = `  debate "Design a rate limiter"
  debate --problemDescription problem.md --rounds 2
  git diff | debate "-"
  debate "Design a rate limiter" --demo`
	}
	root.Args, root.SuggestionsMinimumDistance = spelled(root.Args), 2
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if err := blank(c); err != nil {
			return err
		}
		return p.prepare()
	}
	root.SilenceErrors, root.SilenceUsage = true, true
	root.Version = thisRelease().String()
	root.SetVersionTemplate("{{.Version}}\n")
	root.Flags().BoolP("version", "V", false, "print the version of the program")
	root.CompletionOptions.HiddenDefaultCmd = false
	root.PersistentFlags().StringVar(&p.store, "store", "",
		"where conversations are kept: a file of SQLite, a folder, or the URL of a PostgreSQL database")
	root.PersistentFlags().BoolVar(&p.json, "json", false, "print events, or the result of a command, as JSON")
	p.defaultFlags(root)
	root.SetFlagErrorFunc(flagMistake)
	for _, g := range p.groups() {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, c := range g.commands {
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
	return root
}

// group is a part of the help, and of the manual.
type group struct {
	title    string
	commands []*cobra.Command
}

// groups returns all commands but the root, in the order of the manual.
func (p *program) groups() []group {
	return []group{
		{"Run", []*cobra.Command{p.resume(), p.retry(), p.fork(), p.eval()}},
		{"Look", []*cobra.Command{p.list(), p.show(), p.watch(), p.replay(), p.graph(), p.report()}},
		{"Decide", []*cobra.Command{p.answer(), p.choose()}},
		{"Steer", []*cobra.Command{
			p.pause(), p.stop(), p.cancel(), p.amend(), p.forceAgent(), p.skipStep(), p.rerunStep(), p.redact(), p.delete(),
		}},
		{"Prepare", []*cobra.Command{p.config(), p.estimate(), p.listModels(), p.listPrompts()}},
		{"Move", []*cobra.Command{p.export(), p.importFile()}},
		{"The program", []*cobra.Command{p.version(), p.completion()}},
	}
}

// warnf writes a line for a person to the standard error. Blanks within it stay, because a command in it may have quoted a name.
func (p *program) warnf(format string, args ...any) {
	_, _ = fmt.Fprintln(p.Err, strings.TrimSpace(progress.Line(fmt.Sprintf(format, args...))))
}

// arguments makes a mistake in the number of arguments one of the command line.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return exit(exitArguments, errors.New(err.Error()+"; see "+c.CommandPath()+" --help"))
		}
		return nil
	}
}

// spelled refuses a first word that looks like the name of a command, in place of holding a conversation about it. Behind "--"
// it is no name.
func spelled(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 0 && len(args[0]) > 2 && c.ArgsLenAtDash() < 0 && !strings.ContainsAny(args[0], " \t\n") {
			if meant := c.SuggestionsFor(args[0]); len(meant) > 0 {
				err := fmt.Errorf("there is no command %q; did you mean %s?", args[0], strings.Join(meant, " or "))
				if len(args) == 1 {
					err = fmt.Errorf("%w A problem of one word stands behind --: debate -- %s", err, progress.Quote(args[0]))
				}
				return exit(exitArguments, err)
			}
		}
		return check(c, args)
	}
}

// exclusive makes two flags that exclude each other a mistake of the command line.
func exclusive(c *cobra.Command, one, other string) error {
	if c.Flags().Changed(one) && c.Flags().Changed(other) {
		return exit(exitArguments, fmt.Errorf("--%s and --%s exclude each other", one, other))
	}
	return nil
}

// mayBeBlank is the annotation of a flag that means something without a value.
const mayBeBlank = "debate_may_be_blank"

// blank refuses flags that are given without a value, such as that of a shell's variable that is not set: a limit that is
// none, or a file that is another one, would be a surprise.
func blank(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Annotations[mayBeBlank] != nil {
			return
		}
		text, list := f.Value.Type() == "string", f.Value.Type() == "stringSlice"
		if err == nil && (text && strings.TrimSpace(f.Value.String()) == "" || list && f.Value.String() == "[]") {
			err = exit(exitArguments, fmt.Errorf("--%s: is empty", f.Name))
		}
	})
	return err
}
