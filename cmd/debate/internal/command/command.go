package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
)

// program is one run of the program.
type program struct {
	System

	store string // the flag --store
	json  bool   // the flag --json
	tools toolFlags
	usual defaults

	viewing viewing
	outputs outputs
	asides  asides
	inputs  []string // paths of files that the command reads, which no output replaces
}

// Run carries out the command line and returns the exit code.
func Run(ctx context.Context, system System) int {
	p := &program{System: system, tools: toolFlags{start: system.ServerStart}}
	out := &output{to: system.Out}
	p.Out = out
	p.viewing.began = time.Now().Truncate(time.Millisecond)
	root := p.tree()
	root.SetArgs(begun(system.Args))
	root.SetIn(system.In)
	root.SetOut(p.Out)
	root.SetErr(system.Err)
	err := cmp.Or(root.ExecuteContext(ctx), out.failed)
	if err == nil {
		return exitOK
	}
	if text := strings.TrimSpace(progress.Told(err)); text != "" {
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
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if err := blank(c); err != nil {
			return err
		}
		return p.prepare()
	}
	root.SilenceErrors, root.SilenceUsage = true, true
	root.Version = version()
	root.SetVersionTemplate("{{.Version}}\n")
	root.Flags().BoolP("version", "V", false, "print the version of the program")
	root.PersistentFlags().StringVar(&p.store, "store", "",
		"where conversations are kept: a file of SQLite, a folder, or the URL of a PostgreSQL database")
	root.PersistentFlags().BoolVar(&p.json, "json", false, "print events, or the result of a command, as JSON")
	p.defaultFlags(root)
	root.SetFlagErrorFunc(flagMistake)
	groups := p.groups()
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, c := range g.commands {
			c.GroupID, c.Aliases = g.title, aliases(c.Name())
			root.AddCommand(described(c))
		}
	}
	described(root)
	root.SetHelpCommand(helpOn())
	usual := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c != root {
			usual(c, args)
			return
		}
		writeHelp(root.OutOrStdout(), root, groups)
	})
	return root
}

// group is a part of the help, and of the manual.
type group struct {
	title    string
	commands []*cobra.Command
}

// groups returns all commands but the root, in the order of the help.
func (p *program) groups() []group {
	return []group{
		{"Most used", []*cobra.Command{p.resume(), p.show(), p.watch(), p.report(), p.answer(), p.list()}},
		{"More", []*cobra.Command{
			p.serve(), p.say(), p.on(), p.reopen(), p.eval(), p.pause(), p.stop(), p.delete(), p.listModels(),
		}},
		{"Advanced", []*cobra.Command{p.check(), p.amend(), p.redact(), p.export(), p.importFile(), p.migrate()}},
	}
}

// aliases returns by which other names a command is known.
func aliases(name string) []string {
	return map[string][]string{
		"answer": {"choose"}, "check": {"estimate", "validate"}, "delete": {"rm", "remove"}, "list": {"ls", "ps", "history"},
		"on": {"fork"}, "resume": {"retry", "continue"}, "show": {"status"}, "watch": {"replay", "attach"},
	}[name]
}

// version says which program this is.
func version() string {
	number := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		number = info.Main.Version
	}
	return fmt.Sprintf("debate %s, %s, %s/%s", number, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// warnf writes a line for a person to the standard error, which breaks between words on a terminal. Blanks within it stay, because a
// command in it may have quoted a name.
func (p *program) warnf(format string, args ...any) {
	line := strings.TrimSpace(progress.Line(fmt.Sprintf(format, args...)))
	for _, part := range progress.Wrap(line, columns(p.Err)) {
		_, _ = fmt.Fprintln(p.Err, part)
	}
}

// arguments makes a mistake in the number of arguments one of the command line.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		err := check(c, args)
		if wants := strings.Fields(c.Use); err != nil && len(args) == 0 && len(wants) > 1 {
			err = fmt.Errorf("the %s is missing", wants[1])
		}
		if err != nil {
			return exit(exitArguments, errors.New(err.Error()+"; see "+c.CommandPath()+" --help"))
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
