// Command durable kills a debate and continues it. It starts itself as a second process, which runs the
// debate, and kills that process in the middle of a sentence. A third process opens the same journal and
// continues: recorded calls are not repeated, and the call in flight is made once more.
//
//	go run ./examples/durable
//	go run ./examples/durable -dir debates   # keeps the journal, to be read
//
// Without a key a script speaks.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store/file"
)

const id = "durable"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:gocritic // stop has nothing left to do
	}
}

// run plays one of three parts: the process that watches, or one of the two that run the debate.
func run(ctx context.Context, w io.Writer, args []string) error {
	flags := flag.NewFlagSet("durable", flag.ContinueOnError)
	dir := flags.String("dir", "", "keep the journal in this folder; otherwise it is thrown away")
	part := flags.String("part", "", "begin or continue: what the processes that are started here do")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	switch *part {
	case "begin", "continue":
		return hold(ctx, w, *dir, *part == "continue")
	case "":
		return look(ctx, stage.Printer{Out: w}, *dir)
	default:
		return fmt.Errorf("there is no part %q", *part)
	}
}

// look starts the two processes, one after the other, and reports what the journal holds in the end.
func look(ctx context.Context, p stage.Printer, dir string) error {
	if dir == "" {
		temporary, err := os.MkdirTemp("", "durable")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(temporary) }()
		dir = temporary
	}
	if _, err := recorded(ctx, dir); !errors.Is(err, debate.ErrNotFound) {
		return cmp.Or(err, fmt.Errorf("%s holds the debate already", dir))
	}
	p.Linef("-- a process begins a debate --")
	if err := start(ctx, p.Out, dir, "begin"); !errors.Is(err, errKilled) {
		return cmp.Or(err, errors.New("the debate was over before it could be killed"))
	}
	p.Linef("…\n-- kill -9: the process is gone --")
	before, err := recorded(ctx, dir)
	if err != nil {
		return err
	}
	p.Linef("   %d turns are recorded, %d call was in flight. Another process goes on.", len(before.Turns), before.InFlight())
	if err := start(ctx, p.Out, dir, "continue"); err != nil {
		return err
	}
	return account(ctx, p, dir, before)
}

// recorded reads the journal. Reading needs no lease, whichever process runs the debate.
func recorded(ctx context.Context, dir string) (*debate.Record, error) {
	store, err := file.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = store.Close() }()
	return (&debate.Engine{Store: store}).Record(ctx, id)
}

// account reports what was lost, and what was paid twice.
func account(ctx context.Context, p stage.Printer, dir string, before *debate.Record) error {
	store, err := file.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	asked, told := make(map[string]int), make(map[string]bool)
	lost := 0
	var charged flow.Account
	for event, err := range (&debate.Engine{Store: store}).Events(ctx, id, 0) {
		if err != nil {
			return err
		}
		switch body := event.Body.(type) {
		case *flow.Intent:
			asked[body.Call]++
			if told[body.Call] {
				return fmt.Errorf("%s was asked again, after its result was recorded", body.Call)
			}
		case *debate.Turn:
			told[body.Call] = true
		case *flow.Failure:
			if body.Void {
				lost++
				charged.Add(&body.Spend)
			}
		}
	}
	for _, turn := range before.Turns {
		if !told[turn.Call] {
			return fmt.Errorf("the turn %s is lost", turn.Call)
		}
	}
	p.Linef("-- the journal --")
	p.Linef("   %d calls, %d turns; recorded and lost: 0; recorded and asked again: 0", len(asked), len(told))
	p.Linef("   in flight at the crash and asked again: %d; nobody knows what became of it: %s", lost, charged)
	return nil
}

// errKilled reports that the process was killed, as intended.
var errKilled = errors.New("killed")

// start runs one of the processes, and shows its output. The one that begins is killed.
func start(ctx context.Context, w io.Writer, dir, part string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.CommandContext(ctx, self, "-part", part, "-dir", dir) //nolint:gosec // it is this program
	child.Stderr = os.Stderr
	watch := &watch{out: w}
	if part == "begin" {
		watch.kill = func() { _ = child.Process.Kill() } // SIGKILL: nothing of the process runs any more
	}
	child.Stdout = watch
	err = child.Run()
	if watch.killed {
		return errKilled
	}
	return err
}

// watch passes on the output of a process, and kills it in the middle of its third line.
type watch struct {
	out    io.Writer
	kill   func() // nil: do not kill it
	lines  int
	killed bool
}

func (o *watch) Write(text []byte) (int, error) {
	if o.killed {
		return len(text), nil
	}
	o.lines += strings.Count(string(text), "\n")
	if o.kill != nil && o.lines == 2 && len(text) > 0 && text[len(text)-1] != '\n' {
		o.killed = true
		o.kill()
	}
	return o.out.Write(text)
}
