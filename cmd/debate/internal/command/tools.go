package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/tool"
)

// toolFlags say which tools agents may use.
type toolFlags struct {
	folder   string   // --context
	servers  []string // --mcp
	write    bool     // --allow-write
	programs []string // --allow-run
	approve  bool     // --approve

	start   time.Duration     // as in System.ServerStart
	keyless *strings.Replacer // of what tools and servers say
}

// define adds the flags to a command.
func (f *toolFlags) define(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.folder, "context", "",
		"agents may list, read and search this folder, hidden files too; what they read is sent to the vendors; a file: as --file")
	flags.StringArrayVar(&f.servers, "mcp", nil,
		"agents may use the tools of this MCP server: the URL of one, or a command, which runs as you, with your environment but no vendor's key")
	flags.BoolVar(&f.write, "allow-write", false,
		"agents may write and edit files in the folder of --context, except hidden ones; each use needs approval")
	flags.StringArrayVar(&f.programs, "allow-run", nil,
		"agents may run this program in the folder of --context with any arguments: no sandbox; each use needs approval")
	flags.BoolVar(&f.approve, "approve", false,
		"approve every use of a tool that changes something; without it you are asked on a terminal, and elsewhere it is denied")
}

// again returns a command that offers the same tools. Its operands stand behind the flags.
func (f *toolFlags) again(name string, operands ...string) string {
	var out strings.Builder
	out.WriteString(progress.Command(name))
	if f.folder != "" {
		out.WriteString(" --context " + progress.Quote(f.folder))
	}
	if f.write {
		out.WriteString(" --allow-write")
	}
	for _, program := range f.programs {
		out.WriteString(" --allow-run " + progress.Quote(program))
	}
	for _, server := range f.servers {
		out.WriteString(" --mcp " + progress.Quote(server))
	}
	return out.String() + progress.Operands(operands...)
}

// equip registers the tools with an engine that was not used yet. The returned function closes them. It must be called when
// the engine has been shut down. keyless takes the keys out of what tools and servers say. say gets what the user is to know of
// the servers, then and while the tools are used.
func (f *toolFlags) equip(
	ctx context.Context, engine *debate.Engine, keyless *strings.Replacer, say func(format string, args ...any),
) (closing func(), err error) {
	f.keyless = keyless
	var opened []func()
	closing = func() {
		for _, end := range slices.Backward(opened) {
			end()
		}
	}
	tools := make(map[string]flow.Tool)
	if f.folder != "" {
		dir, err := tool.OpenDir(f.folder, tool.Limits{})
		if err != nil {
			return nil, exit(exitArguments, fmt.Errorf("--context: %w", said(err)))
		}
		opened = append(opened, func() { _ = dir.Close() })
		if err := f.inFolder(dir, tools); err != nil {
			closing()
			return nil, err
		}
	} else if f.write || len(f.programs) > 0 {
		return nil, exit(exitArguments, errors.New("--allow-write and --allow-run need the folder of --context"))
	}
	for _, address := range f.servers {
		end, err := f.ofServer(ctx, address, tools, say)
		if err != nil {
			closing()
			return nil, err
		}
		opened = append(opened, end)
	}
	for name, t := range tools {
		tools[name] = &discreet{t, f.keyless}
	}
	if len(tools) > 0 {
		engine.Tools = tools
	}
	return closing, nil
}

// inFolder makes the tools that work in a folder.
func (f *toolFlags) inFolder(dir *tool.Dir, into map[string]flow.Tool) error {
	reading, err := tool.Tools(dir)
	if err != nil {
		return err
	}
	maps.Copy(into, reading)
	if f.write {
		if into[tool.WriteFileName], err = tool.WriteFile(dir, tool.Writing{Unasked: f.approve}); err != nil {
			return err
		}
		if into[tool.EditFileName], err = tool.EditFile(dir, tool.Writing{Unasked: f.approve}); err != nil {
			return err
		}
	}
	if len(f.programs) == 0 {
		return nil
	}
	commands := tool.Commands{Unasked: f.approve, Inherit: []string{"PATH", "HOME"}}
	for _, name := range f.programs {
		commands.Programs = append(commands.Programs, tool.Program{Name: name})
	}
	if into[tool.RunCommandName], err = tool.RunCommand(dir, commands); err != nil {
		return exit(exitArguments, fmt.Errorf("--allow-run: %w", said(err)))
	}
	return nil
}

// offer names the tools of an engine in a config, for the agents that name none.
func (f *toolFlags) offer(engine *debate.Engine, config flow.Config) (flow.Config, error) {
	names := slices.Sorted(maps.Keys(engine.Tools))
	if len(names) == 0 {
		return config, nil
	}
	switch c := config.(type) {
	case *deliberation.Config:
		if len(c.Tools) == 0 {
			c.Tools = names
		}
		return c, nil
	case *arbiter.Config:
		for i := range c.Agents {
			if c.Agents[i].Tools == nil {
				c.Agents[i].Tools = names
			}
		}
		return c, nil
	default:
		return nil, exit(exitArguments, errors.New("agents of this flow use no tools: leave out --context and --mcp"))
	}
}

// said returns what a refusal of the library says, without the place in the library.
func said(err error) error {
	var refusal *flow.Error
	if errors.As(err, &refusal) && refusal.Err != nil {
		return refusal.Err
	}
	return err
}
