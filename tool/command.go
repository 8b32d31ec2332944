package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// Commands says which programs models may run, and how.
type Commands struct {
	// Programs are the only programs that may be run. There must be at least one.
	Programs []Program
	// Unasked lets models run them without the approval of a person.
	Unasked bool
	// Idempotent says that no command does harm if it is run twice: see [flow.ToolInfo.Idempotent].
	Idempotent bool
	// Timeout is how long a command may run: 1 minute if 0, at most 1 hour. The time of a turn bounds it too.
	Timeout time.Duration
	// Output is how many bytes of what a command prints are kept, half from the beginning and half from the end:
	// 16 KiB if 0, at most 24 KiB.
	Output int
	// Env are the variables of a command and their values.
	Env map[string]string
	// Inherit names variables whose values a command gets from this process, as they are when the tool is made. It gets
	// no others. Names and values that look like those of a secret are refused, here and in Env.
	Inherit []string

	after func(time.Duration) <-chan time.Time // as time.After, which it is if nil
}

// Program is one that models may run.
type Program struct {
	// Name is what models call it: letters, digits and ".+-_".
	Name string
	// Path is its file, absolute. If it is empty, Name is looked up in the PATH of this process when the tool is made.
	Path string
	// Check refuses arguments with an error that the model reads. folder is the one that the command runs in, in the form
	// in which tools name it in answers. Nil allows all arguments. Check must be safe for concurrent use.
	Check func(folder string, arguments []string) error
}

const (
	defaultTimeout = time.Minute
	highestTimeout = time.Hour
	defaultOutput  = 16 << 10
	highestOutput  = 24 << 10
	grace          = 2 * time.Second // that a command has to end after it was asked to
	linger         = grace / 2       // how long the output of what has ended is waited for
	maxProgramName = 64              // bytes of a program's name
	maxArguments   = 256             // of a command
	maxCommand     = 64 << 10        // bytes of them
)

type commandArguments struct {
	Program   string   `json:"program" jsonschema:"description=one of the programs that this tool can run"`
	Arguments []string `json:"arguments,omitempty" jsonschema:"maxItems=256,description=its arguments\\, one by one: no shell reads them"`
	Folder    string   `json:"folder,omitempty" jsonschema:"description=the folder to run it in: the top one if left out"`
}

// RunCommand returns a tool that runs programs of the host's list in the folder, without a shell and without input. The
// answer has the exit code and what the program printed, errors included. A person must approve each use, unless
// [Commands] says otherwise.
//
// The tool is no sandbox. A program can do all that its user may do: read and write outside of the folder, use the
// network, start other programs, and obey files that models may have written. Allow only programs and arguments
// whose worst use you accept, or let the whole process run in a container.
//
// On Linux with /proc a program starts in the very folder that was checked. On other systems somebody who may rename folders
// in it can put a link in its place meanwhile, and so choose another folder.
//
// When its time is up, or the context is done, the program and all others of its process group are asked to end, and
// killed after 2 seconds. What a program leaves running in its group when it ends is killed too, a second later if it may
// still print. On Linux the program also dies with this process. On Windows only the program itself is killed.
//
// RunCommand fails with kind validation if dir is nil or commands is invalid.
func RunCommand(dir *Dir, commands Commands) (flow.Tool, error) {
	if err := usable(dir); err != nil {
		return nil, err
	}
	r, err := commands.runner(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, program := range r.programs {
		names = append(names, program.Name)
	}
	about := fmt.Sprintf("Runs one of these programs, for at most %s: %s.", r.timeout, strings.Join(names, ", "))
	return changing(about, commands.Unasked, commands.Idempotent, r.run)
}

// runner is Commands in the form in which they are applied.
type runner struct {
	dir      *Dir
	root     string // the folder, absolute
	programs []Program
	env      []string
	timeout  time.Duration
	after    func(time.Duration) <-chan time.Time
	output   int
}

func (c Commands) runner(dir *Dir) (*runner, error) {
	r := &runner{dir: dir, timeout: c.Timeout, output: c.Output, after: c.after}
	switch {
	case c.Timeout < 0 || c.Timeout > highestTimeout:
		return nil, invalid("commands.timeout", fmt.Errorf("%s is not between 0 and %s", c.Timeout, highestTimeout))
	case c.Output < 0 || c.Output > highestOutput:
		return nil, invalid("commands.output", fmt.Errorf("%d is not between 0 and %d", c.Output, highestOutput))
	case len(c.Programs) == 0:
		return nil, invalid("commands.programs", errors.New("there is none"))
	}
	if r.timeout == 0 {
		r.timeout = defaultTimeout
	}
	if r.output == 0 {
		r.output = defaultOutput
	}
	if r.after == nil {
		r.after = time.After
	}
	seen := make(map[string]bool, len(c.Programs))
	for i, program := range c.Programs {
		found, err := program.found()
		if err == nil && seen[found.Name] {
			err = errors.New("is a duplicate")
		}
		if err != nil {
			return nil, invalid(fmt.Sprintf("commands.programs[%d]", i), fmt.Errorf("%s %w", strconv.Quote(program.Name), err))
		}
		seen[found.Name] = true
		r.programs = append(r.programs, found)
	}
	var err error
	if r.env, err = environment(c.Env, c.Inherit); err != nil {
		return nil, err
	}
	if r.root, err = filepath.Abs(dir.root.Name()); err != nil {
		return nil, invalid("dir", reason(err))
	}
	top, _, err := r.folder(place{given: ".", clean: ".", local: "."})
	if err != nil {
		return nil, invalid("dir", err)
	}
	_ = top.Close() // nothing was written
	return r, nil
}

// run runs a command that a model has asked for.
func (r *runner) run(ctx context.Context, args commandArguments) (string, error) {
	program, err := r.program(args.Program)
	if err != nil {
		return "", err
	}
	size := 0
	for _, argument := range args.Arguments {
		if strings.ContainsRune(argument, 0) {
			return "", errors.New("an argument holds a zero byte, which no argument can")
		}
		size += len(argument)
	}
	if len(args.Arguments) > maxArguments || size > maxCommand {
		return "", fmt.Errorf("the arguments are more than %d, or have more than %d bytes", maxArguments, maxCommand)
	}
	p, err := find(args.Folder)
	if err != nil {
		return "", err
	}
	folder, path, err := r.folder(p)
	if err != nil {
		return "", err
	}
	defer func() { _ = folder.Close() }() // nothing was written
	if program.Check != nil {
		if err := program.Check(p.clean, args.Arguments); err != nil {
			return "", err
		}
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	c := command{
		path: program.Path, arguments: append([]string{program.Name}, args.Arguments...),
		folder: pathOf(folder, path), env: r.env, after: r.after,
	}
	end, err := c.run(ctx, r.timeout, r.output)
	if err != nil {
		return "", fmt.Errorf("%s cannot be started: %w", program.Name, reason(err))
	}
	return end.String(), nil
}

func (r *runner) program(name string) (*Program, error) {
	var names []string
	for i := range r.programs {
		if r.programs[i].Name == name {
			return &r.programs[i], nil
		}
		names = append(names, r.programs[i].Name)
	}
	return nil, fmt.Errorf("%s may not be run: only %s", strconv.Quote(cut(name, maxProgramName)), strings.Join(names, ", "))
}

// folder opens a folder for a program to run in, and returns where it is.
func (r *runner) folder(p place) (file *os.File, path string, err error) {
	file, info, err := r.dir.open(p)
	if err != nil {
		return nil, "", err
	}
	path = filepath.Join(r.root, p.local)
	named, err := os.Stat(path)
	switch {
	case !info.IsDir():
		err = p.fault(errors.New("is a file, no folder"))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		err = p.fault(err)
	case err != nil || !os.SameFile(info, named):
		err = p.fault(errors.New("has been moved, so that nothing can be run there"))
	}
	if err != nil {
		_ = file.Close() // nothing was written
		return nil, "", err
	}
	return file, path, nil
}
