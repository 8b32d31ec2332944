package command_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
		"resume", "on", "eval", "list", "show", "watch", "report", "answer", "pause", "stop", "amend", "check", "models",
		"delete", "redact", "export", "import", "migrate", "say", "reopen", "serve",
	} {
		assert.True(t, names[name], name)
	}
	assert.Len(t, names, 21)
}

// A command that a page shows is one that the program understands: its name, its flags, and how many arguments it takes.
func TestCommandsOfPagesAreUnderstood(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..", "..")
	pages := []string{filepath.Join(root, "README.md")}
	require.NoError(t, filepath.WalkDir(filepath.Join(root, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			pages = append(pages, path)
		}
		return err
	}))
	shown := regexp.MustCompile("(?m)^debate( .*)?$|`debate( [^`]*)`") // a line of a block, or words within a sentence
	word := regexp.MustCompile(`"[^"]*"|'[^']*'|[^\s"']+`)
	seen := 0
	for _, page := range pages {
		data, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, found := range shown.FindAllStringSubmatch(string(data), -1) {
			line, _, _ := strings.Cut(found[1]+found[2], " #")
			var args []string
			for _, arg := range word.FindAllString(line, -1) {
				args = append(args, strings.Trim(arg, `"'`))
			}
			c, rest, err := command.Tree().Find(args)
			if err == nil {
				err = c.ParseFlags(rest)
			}
			if err == nil && found[1] != "" {
				err = c.ValidateArgs(c.Flags().Args())
			}
			if seen++; !errors.Is(err, pflag.ErrHelp) {
				assert.NoError(t, err, "%s: debate%s", page, line)
			}
		}
	}
	assert.Greater(t, seen, 30)
}

// manual describes the commands as Markdown. Flags that several commands have are described once.
func manual(root *cobra.Command) string {
	m := &handbook{root: root, written: map[string]bool{}}
	m.WriteString("## Flags of every command\n\n")
	m.list("", root.PersistentFlags(), func(*pflag.Flag) bool { return true })
	run, begin := m.flagsOf("resume"), m.flagsOf("check")
	m.groups = []group{
		{"tools", run, func(f *pflag.Flag) bool { return same(run, f) && same(begin, f) }},
		{"a run", run, func(f *pflag.Flag) bool { return same(run, f) && !same(begin, f) }},
		{"a new conversation", begin, func(f *pflag.Flag) bool { return !same(run, f) && same(begin, f) }},
	}
	for _, g := range m.groups {
		m.WriteString("\n## Flags of " + g.title + "\n\n")
		m.list("", g.set, g.has)
	}
	m.WriteString("\n## Commands\n\n`debate <command> --help` says more, with examples.\n")
	last := ""
	m.each(func(c *cobra.Command) {
		if title := m.title(c); title != last {
			last = title
			m.WriteString("\n### " + strings.TrimSuffix(title, ":") + "\n\n")
		}
		m.command(c)
	})
	return m.String()
}

// handbook is a manual that is being written.
type handbook struct {
	strings.Builder

	root    *cobra.Command
	groups  []group         // of flags that several commands have
	written map[string]bool // the flags that are described
}

// group is a group of flags that are described together.
type group struct {
	title string
	set   *pflag.FlagSet // has them, and maybe others
	has   func(*pflag.Flag) bool
}

// of returns the flags of the group that a set has too, and whether these are all.
func (g *group) of(set *pflag.FlagSet) (names []string, all bool) {
	all = true
	g.set.VisitAll(func(f *pflag.Flag) {
		switch {
		case f.Name == "help" || !g.has(f):
		case same(set, f):
			names = append(names, "`--"+f.Name+"`")
		default:
			all = false
		}
	})
	return names, all
}

// each visits the commands by their groups, those inside of others too.
func (m *handbook) each(visit func(c *cobra.Command)) {
	visit(m.root)
	for _, under := range m.root.Groups() {
		for _, c := range m.root.Commands() {
			if c.GroupID != under.ID {
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
		for _, under := range m.root.Groups() {
			if c.GroupID == under.ID {
				return under.Title
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

// command describes a command: how it is called, what it does, and the flags that are its own. Of a group it may have some.
func (m *handbook) command(c *cobra.Command) {
	fmt.Fprintf(m, "- `%s`: %s\n", strings.TrimSuffix(c.UseLine(), " [flags]"), prose(c.Short))
	own := c.LocalNonPersistentFlags()
	again := m.list("  ", own, func(f *pflag.Flag) bool {
		return !slices.ContainsFunc(m.groups, func(g group) bool { return g.has(f) })
	})
	for _, g := range m.groups {
		names, all := g.of(own)
		if len(names) == 0 {
			continue
		}
		which := "those"
		if !all {
			which = strings.Join(names, ", ")
		}
		again = append(again, fmt.Sprintf("%s of [%s](#flags-of-%s)", which, g.title, strings.ReplaceAll(g.title, " ", "-")))
	}
	if again != nil {
		m.WriteString("  - also " + strings.Join(again, ", ") + "\n")
	}
}

// same reports whether a set has a flag with this name and meaning.
func same(set *pflag.FlagSet, f *pflag.Flag) bool {
	other := set.Lookup(f.Name)
	return other != nil && other.Usage == f.Usage
}

// list describes flags, and returns the names of those that it has described before. The usual value is named where it is not the empty
// one.
func (m *handbook) list(indent string, set *pflag.FlagSet, of func(*pflag.Flag) bool) (again []string) {
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || !of(f) {
			return
		}
		name := "--" + f.Name
		if m.written[name+f.Usage] {
			again = append(again, "`"+name+"`")
			return
		}
		m.written[name+f.Usage] = true
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		value, said := pflag.UnquoteUsage(f)
		said = strings.TrimPrefix(said, value+": ")
		if value = strings.TrimSuffix(value, "Array"); value != "" && !strings.HasPrefix(value, "string") {
			name += " " + value
		}
		switch f.DefValue {
		case "", "0", "0s", "[]", "false":
		default:
			said += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		fmt.Fprintf(m, "%s- `%s`: %s\n", indent, name, prose(said))
	})
	return again
}

var flagName = regexp.MustCompile(`(^|[\s(])(--[a-z][a-z-]*)`)

// prose marks the flags in a text as code.
func prose(said string) string { return flagName.ReplaceAllString(said, "$1`$2`") }
