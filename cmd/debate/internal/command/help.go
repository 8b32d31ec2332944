package command

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpTexts has a file for each command: its line, its text, and behind "Examples:" its examples.
//
//go:embed help/*.txt
var helpTexts embed.FS

// described gives a command the texts of its file, if it has one, and returns it.
func described(c *cobra.Command) *cobra.Command {
	data, err := helpTexts.ReadFile("help/" + c.Name() + ".txt")
	if err != nil {
		return c
	}
	line, rest, _ := strings.Cut(string(data), "\n")
	said, examples, _ := strings.Cut(rest, "\nExamples:\n")
	c.Short, c.Long, c.Example = line, strings.TrimSpace(said), strings.TrimRight(examples, "\n")
	return c
}

// helpWidth is how many columns the help takes.
const helpWidth = 80

// firstFlags are the flags that a first conversation may want.
func firstFlags() []string {
	return []string{"agents", "budget", "config", "demo", "file", "flow", "model", "output", "problemDescription", "rounds"}
}

// writeHelp writes the help of the program: what a first run needs comes first.
func writeHelp(w io.Writer, root *cobra.Command, groups []group) {
	few := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, name := range firstFlags() {
		if f := root.Flags().Lookup(name); f != nil {
			few.AddFlag(f)
		}
	}
	writeUsage(w, root)
	for _, g := range groups {
		_, _ = fmt.Fprintf(w, "\n%s:\n", g.title)
		for _, c := range g.commands {
			what, _, _ := strings.Cut(c.Short, ": by default")
			_, _ = fmt.Fprintf(w, "  %-7s %s\n", c.Name(), what)
		}
	}
	_, _ = fmt.Fprintf(w, "\nFlags:\n%s\ndebate help flags shows all flags, and debate help COMMAND a command.\n"+
		"debate completion SHELL prints the script with which a shell completes.\n", few.FlagUsagesWrapped(helpWidth))
}

// writeUsage writes how the program is used.
func writeUsage(w io.Writer, root *cobra.Command) {
	_, _ = fmt.Fprintf(w, "%s\n\nUsage:\n  debate [problem] [flags]\n  debate <command> [argument…] [flags]\n\nExamples:\n%s\n",
		root.Short, root.Example)
}

// helpOn shows the help of the program or of a command, or all flags of the command debate.
func helpOn() *cobra.Command {
	const flags = "flags"
	return &cobra.Command{
		Use: "help [command|flags]", Short: "Show the help of a command, or all flags of the command debate",
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return append(commandNames(c.Root()), flags), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			root := c.Root()
			if slices.Equal(args, []string{flags}) {
				_, err := fmt.Fprint(root.OutOrStdout(), root.LocalFlags().FlagUsagesWrapped(helpWidth))
				return err
			}
			found, _, err := root.Find(args)
			if err != nil || found == root && len(args) > 0 {
				name := strings.Join(args, " ")
				return exit(exitArguments, unknownName("command", name, append(commandNames(root), flags)))
			}
			return found.Help()
		},
	}
}

// commandNames returns the names of all commands but the root, and those of a shell.
func commandNames(root *cobra.Command) (names []string) {
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}
