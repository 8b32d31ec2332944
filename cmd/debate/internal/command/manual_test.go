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

var update = flag.Bool("update", false, "write docs/reference/cli.md anew")

// TestTheManualIsMadeOfTheCommands compares docs/reference/cli.md with what testdata/manual.md and the commands say. With -update it is
// written.
func TestTheManualIsMadeOfTheCommands(t *testing.T) {
	page := filepath.Join("..", "..", "..", "..", "docs", "reference", "cli.md")
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

// manual describes the commands as Markdown. Flags that several commands have are described once.
func manual(root *cobra.Command) string {
	m := &handbook{root: root}
	m.WriteString("## Flags of every command\n\n")
	m.list("", root.PersistentFlags(), func(*pflag.Flag) bool { return true })
	run, setup := m.flagsOf("resume"), m.flagsOf("estimate")
	m.WriteString("\n## Flags of a run\n\nThe commands that run a conversation have these.\n\n")
	m.list("", run, func(*pflag.Flag) bool { return true })
	m.WriteString("\n## Flags of a new conversation\n\n")
	m.list("", root.LocalNonPersistentFlags(), func(f *pflag.Flag) bool { return same(setup, f) })
	m.WriteString("\n## Commands\n\n`debate <command> --help` says more, with examples.\n")
	group := ""
	m.each(func(c *cobra.Command) {
		if title := m.title(c); title != group {
			group = title
			m.WriteString("\n### " + strings.TrimSuffix(title, ":") + "\n\n")
		}
		m.command(c, run, setup)
	})
	return m.String()
}

// handbook is a manual that is being written.
type handbook struct {
	strings.Builder

	root *cobra.Command
}

// each visits the commands by their groups, those inside of others too.
func (m *handbook) each(visit func(c *cobra.Command)) {
	visit(m.root)
	for _, group := range m.root.Groups() {
		for _, c := range m.root.Commands() {
			if c.GroupID != group.ID {
				continue
			}
			visit(c)
			for _, inner := range c.Commands() {
				visit(inner)
			}
		}
	}
}

// title is that of the group which a command is in.
func (m *handbook) title(c *cobra.Command) string {
	for ; c != nil && c != m.root; c = c.Parent() {
		for _, group := range m.root.Groups() {
			if c.GroupID == group.ID {
				return group.Title
			}
		}
	}
	return m.root.Groups()[0].Title
}

func (m *handbook) flagsOf(command string) *pflag.FlagSet {
	for _, c := range m.root.Commands() {
		if c.Name() == command {
			return c.LocalNonPersistentFlags()
		}
	}
	return nil
}

// command describes a command: how it is called, what it does, and the flags that are its own.
func (m *handbook) command(c *cobra.Command, run, setup *pflag.FlagSet) {
	fmt.Fprintf(m, "- `%s`: %s\n", strings.TrimSuffix(c.UseLine(), " [flags]"), prose(c.Short))
	own := c.LocalNonPersistentFlags()
	var also []string
	for _, shared := range []struct {
		set   *pflag.FlagSet
		title string
	}{{run, "[a run](#flags-of-a-run)"}, {setup, "[a new conversation](#flags-of-a-new-conversation)"}} {
		if names, all := common(own, shared.set); all {
			also = append(also, "those of "+shared.title)
		} else if len(names) > 0 {
			also = append(also, strings.Join(names, ", ")+" of "+shared.title)
		}
	}
	m.list("  ", own, func(f *pflag.Flag) bool { return !same(run, f) && !same(setup, f) })
	if also != nil {
		m.WriteString("  - also " + strings.Join(also, ", and ") + "\n")
	}
}

// same reports whether a set has a flag with this name and meaning.
func same(set *pflag.FlagSet, f *pflag.Flag) bool {
	other := set.Lookup(f.Name)
	return other != nil && other.Usage == f.Usage
}

// common returns the flags of one set that another one has too, and whether these are all of the other one.
func common(set, other *pflag.FlagSet) (names []string, all bool) {
	all = true
	other.VisitAll(func(f *pflag.Flag) {
		switch own := set.Lookup(f.Name); {
		case f.Name == "help":
		case own == nil || own.Usage != f.Usage:
			all = false
		default:
			names = append(names, "`--"+f.Name+"`")
		}
	})
	return names, all
}

// list describes flags. The usual value is named where it is not the empty one.
func (m *handbook) list(indent string, set *pflag.FlagSet, of func(*pflag.Flag) bool) {
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || !of(f) {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		value, said := pflag.UnquoteUsage(f)
		if value != "" && value != "string" {
			name += " " + strings.TrimSuffix(value, "Array")
		}
		switch f.DefValue {
		case "", "0", "0s", "[]", "false":
		default:
			said += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		fmt.Fprintf(m, "%s- `%s`: %s\n", indent, name, prose(said))
	})
}

var flagName = regexp.MustCompile(`(^|[\s(])(--[a-z][a-z-]*)`)

// prose marks the flags in a text as code.
func prose(said string) string { return flagName.ReplaceAllString(said, "$1`$2`") }
