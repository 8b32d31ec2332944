package command_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/cmd/debate/internal/command"
)

var update = flag.Bool("update", false, "write docs/cli.md anew")

// TestTheManualIsMadeOfTheCommands compares docs/cli.md with what testdata/manual.md and the commands say. With -update it is
// written.
func TestTheManualIsMadeOfTheCommands(t *testing.T) {
	page := filepath.Join("..", "..", "..", "..", "docs", "cli.md")
	before, err := os.ReadFile(filepath.Join("testdata", "manual.md"))
	require.NoError(t, err)
	want := string(before) + manual(command.Tree())
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o644))
	}
	got, err := os.ReadFile(page)
	require.NoError(t, err)
	if string(got) != want {
		assert.Equal(t, want, string(got), "go test ./internal/command -run TestTheManual -update")
	}
}

// TestEveryCommandIsDescribed: each says in a line what it does, and has an example that begins with itself.
func TestEveryCommandIsDescribed(t *testing.T) {
	names := make(map[string]bool)
	for _, c := range command.Tree().Commands() {
		names[c.Name()] = true
		assert.NotEmpty(t, c.Short, c.Name())
		assert.False(t, strings.HasSuffix(c.Short, "."), c.Name())
		assert.Contains(t, c.Example, "debate "+c.Name(), c.Name())
		assert.NotEmpty(t, c.GroupID, c.Name())
		for line := range strings.Lines(c.Long) {
			assert.LessOrEqual(t, len(line), 80, c.Name())
		}
	}
	for _, name := range []string{
		"resume", "list", "show", "watch", "answer", "choose", "pause", "stop", "cancel", "retry", "amend", "skip-step", "force-agent",
		"rerun-step", "redact", "delete", "eval", "replay", "fork", "graph", "models", "prompts", "version", "completion",
	} {
		assert.True(t, names[name], name)
	}
}

// manual describes the commands as Markdown.
func manual(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("## Commands\n\n")
	index := func(c *cobra.Command) {
		fmt.Fprintf(&b, "| [%s](#%s) | %s |\n", c.CommandPath(), anchor(c), cell(c.Short))
	}
	b.WriteString("| command | what it does |\n|---|---|\n")
	index(root)
	each(root, index)
	b.WriteString("\n### Flags of every command\n\n")
	flags(&b, root.PersistentFlags(), nil)
	b.WriteString("\n### Flags of commands that run a conversation\n\n")
	running := running(root)
	flags(&b, running, nil)
	section(&b, root, running)
	each(root, func(c *cobra.Command) {
		section(&b, c, running)
		for _, inner := range c.Commands() {
			section(&b, inner, running)
		}
	})
	return b.String()
}

// each visits the commands by their groups.
func each(root *cobra.Command, visit func(c *cobra.Command)) {
	for _, group := range root.Groups() {
		for _, c := range root.Commands() {
			if c.GroupID == group.ID {
				visit(c)
			}
		}
	}
}

// running returns the flags that all commands have which run a conversation: those of the command resume.
func running(root *cobra.Command) *pflag.FlagSet {
	for _, c := range root.Commands() {
		if c.Name() == "resume" {
			return c.LocalNonPersistentFlags()
		}
	}
	return nil
}

// has reports whether a command has flags.
func has(c *cobra.Command, set *pflag.FlagSet) bool {
	all := true
	set.VisitAll(func(f *pflag.Flag) { all = all && c.Flags().Lookup(f.Name) != nil })
	return all
}

func anchor(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

func section(b *strings.Builder, c *cobra.Command, running *pflag.FlagSet) {
	fmt.Fprintf(b, "\n### %s\n\n", c.CommandPath())
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	fmt.Fprintf(b, "%s\n\n```sh\n%s\n```\n", prose(text), usage(c))
	if c.Example != "" {
		fmt.Fprintf(b, "\nFor example:\n\n```sh\n%s\n```\n", unindent(c.Example))
	}
	own, runs := c.LocalNonPersistentFlags(), has(c, running)
	if !runs {
		running = nil
	}
	var table strings.Builder
	if flags(&table, own, running) {
		b.WriteString("\n" + table.String())
	}
	if runs {
		b.WriteString("\nIt also has the [flags of commands that run a conversation](#flags-of-commands-that-run-a-conversation).\n")
	}
}

// usage is the line of a command with its arguments.
func usage(c *cobra.Command) string { return strings.TrimSuffix(c.UseLine(), " [flags]") }

func unindent(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}

// flags writes a table of flags but some, and reports whether there are any. The usual value is named where it is not the empty
// one.
func flags(b *strings.Builder, set, but *pflag.FlagSet) (written bool) {
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || but != nil && but.Lookup(f.Name) != nil {
			return
		}
		if !written {
			b.WriteString("| flag | what it does |\n|---|---|\n")
		}
		written = true
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		value, text := pflag.UnquoteUsage(f)
		if value != "" {
			name += " " + strings.TrimSuffix(value, "Array")
		}
		switch f.DefValue {
		case "", "0", "0s", "[]", "false":
		default:
			text += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", name, cell(text))
	})
	return written
}

var flagName = regexp.MustCompile(`(^|[\s(])(--[a-z][a-z-]*)`)

// prose marks the flags in a text as code.
func prose(text string) string { return flagName.ReplaceAllString(text, "$1`$2`") }

// cell writes a text into a cell of a table.
func cell(text string) string { return strings.ReplaceAll(prose(text), "|", "\\|") }
