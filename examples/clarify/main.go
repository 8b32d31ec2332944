// Command clarify lets agents ask questions before they begin. A first process lets them ask, suspends
// the debate into a folder and ends. It starts a second process, which finds the debate there, answers,
// is asked once more, and continues to the solution. One question is left open with the answer "NA".
//
//	go run ./examples/clarify
//	go run ./examples/clarify -ask            # you answer, at the terminal
//	go run ./examples/clarify -dir debates    # keeps the debate; a debate that waits there is continued
//
// With OPENAI_API_KEY or another key that the examples support, a model plays the agents; their questions
// are left open unless you answer. Without a key, a script plays them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store/file"
)

const id = "clarify"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	if err := run(ctx, os.Stdin, os.Stdout, os.Args[1:]); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, stage.Clean(err.Error()))
		os.Exit(1)
	}
}

// options are the flags of the command line.
type options struct {
	dir, part string
	ask       bool
}

// run plays one of three parts: the process that starts the others, the one that lets the agents ask, or
// the one that answers.
func run(ctx context.Context, in io.Reader, out io.Writer, args []string) error {
	var o options
	flags := flag.NewFlagSet("clarify", flag.ContinueOnError)
	flags.StringVar(&o.dir, "dir", "", "keep the debate in this folder; otherwise it is thrown away")
	flags.BoolVar(&o.ask, "ask", false, "answer yourself, at the terminal")
	flags.StringVar(&o.part, "part", "", "ask or answer: what the processes that are started here do")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	p := stage.Printer{Out: out}
	switch o.part {
	case "":
		return lead(ctx, p, in, o)
	case "ask", "answer":
		store, err := file.Open(o.dir)
		if err != nil {
			return err
		}
		defer func() { _ = store.Close() }()
		if o.part == "ask" {
			return ask(ctx, p, store)
		}
		return answer(ctx, p, in, store, o.ask)
	default:
		return fmt.Errorf("there is no part %q", o.part)
	}
}

// lead starts the two processes, one after the other.
func lead(ctx context.Context, p stage.Printer, in io.Reader, o options) error {
	if o.ask && !isTerminal(in) {
		return errors.New("-ask needs a terminal to answer at")
	}
	if o.dir == "" {
		temporary, err := os.MkdirTemp("", "clarify")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(temporary) }()
		o.dir = temporary
	}
	record, err := kept(ctx, o.dir)
	if errors.Is(err, debate.ErrNotFound) {
		p.Linef("-- a process begins a debate, and lets the agents ask --")
		if err := start(ctx, p, in, o, "ask"); err != nil {
			return err
		}
		record, err = kept(ctx, o.dir)
	}
	switch {
	case err != nil:
		return err
	case record.Final():
		return fmt.Errorf("the debate in %s is over", o.dir)
	case record.State == flow.StateAwaitingInput:
		p.Linef("-- the process is gone, %d questions are open: another process answers --", len(record.Inquiries))
	default:
		p.Linef("-- the process is gone, and no question is open: another process goes on --")
	}
	return start(ctx, p, in, o, "answer")
}

// kept reads the debate from the folder. For that, no process has to run it.
func kept(ctx context.Context, dir string) (*debate.Record, error) {
	store, err := file.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = store.Close() }()
	engine, _ := newEngine(store)
	return engine.Record(ctx, id)
}

// start runs one of the processes to its end.
func start(ctx context.Context, p stage.Printer, in io.Reader, o options, part string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"-part", part, "-dir", o.dir}
	if o.ask {
		args = append(args, "-ask")
	}
	child := exec.CommandContext(ctx, self, args...) //nolint:gosec // it is this program
	child.Stdin, child.Stdout, child.Stderr = in, p.Out, os.Stderr
	err = child.Run()
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted: %w", ctx.Err())
	}
	return err
}

// isTerminal reports whether a person may be at the other end.
func isTerminal(in io.Reader) bool {
	file, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
