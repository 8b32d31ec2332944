// Command worker lets two workers share a debate. It submits the debate, starts itself as a worker, and kills that
// process while a call is in flight. Another worker, which knows nothing of the first one, continues the debate.
//
//	go run ./examples/worker
//
// The jobs are River's, the database is a file of SQLite, and a script speaks: nothing else is needed.
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
	"path/filepath"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
)

const id = "shared"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:gocritic // stop has nothing left to do
	}
}

// run plays one of two parts: the host program, or a worker.
func run(ctx context.Context, out io.Writer, args []string) error {
	flags := flag.NewFlagSet("worker", flag.ContinueOnError)
	database := flags.String("work", "", "work on the debates of this file, as the processes do that are started here")
	silent := flags.Bool("silent", false, "as a worker: Ada never ends her second turn")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if *database != "" {
		return work(ctx, *database, *silent)
	}
	folder, err := os.MkdirTemp("", "worker")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	return host(ctx, out, filepath.Join(folder, "debates.db"))
}

// host submits a debate, starts the workers, and shows what the log tells. It works on nothing itself.
func host(ctx context.Context, out io.Writer, file string) error {
	b, err := open(ctx, file)
	if err != nil {
		return err
	}
	defer b.close()
	engine := engineOn(b.store, false)
	if err := submit(ctx, engine); err != nil {
		return err
	}
	show(out, "The debate is submitted, and has a job. Worker 1 starts.")
	first, err := start(ctx, file, "-silent") // so that it is certainly killed while she speaks
	if err != nil {
		return err
	}
	killed := false
	var second *exec.Cmd
	made, recorded := make(map[string]int), make(map[string]bool)
	for event, err := range engine.Events(ctx, id, 0) {
		if err != nil {
			return err
		}
		switch body := event.Body.(type) {
		case *flow.Intent:
			made[body.Call]++
			if recorded[body.Call] {
				return fmt.Errorf("%s was asked again, after its result was recorded", body.Call)
			}
			if len(made) < 3 || killed { // until Ada speaks again
				continue
			}
			killed = true
			if err := first.Process.Kill(); err != nil { // SIGKILL: nothing of the process runs any more
				return err
			}
			_ = first.Wait() // it reports that it was killed
			show(out, "Worker 1 is killed while Ada speaks. Worker 2 starts.")
			if second, err = start(ctx, file); err != nil {
				return err
			}
			defer func() { _ = end(second) }()
		case *flow.Turn:
			recorded[body.Call] = true
			show(out, fmt.Sprintf("%s: %s", body.Speaker, body.Text))
		}
	}
	if !killed {
		return errors.New("the debate was over before its worker could be killed")
	}
	again := 0
	for _, n := range made {
		again += n - 1
	}
	show(out, fmt.Sprintf("%d calls, %d turns; recorded and asked again: 0; in flight and asked again: %d", len(made), len(recorded), again))
	return nil
}

func show(out io.Writer, line string) { _, _ = fmt.Fprintln(out, line) }

// start starts a worker. It ends with this process.
func start(ctx context.Context, file string, flags ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	worker := exec.CommandContext(ctx, self, append([]string{"-work", file}, flags...)...) //nolint:gosec // it is this program
	worker.Stderr = os.Stderr
	if _, err := worker.StdinPipe(); err != nil {
		return nil, err
	}
	return worker, worker.Start()
}

// end stops a worker, and waits for it.
func end(worker *exec.Cmd) error {
	_ = worker.Process.Signal(os.Interrupt)
	return worker.Wait()
}

// submit stores the debate with its job, and makes no call.
func submit(ctx context.Context, engine *debate.Engine) error {
	_, err := engine.Submit(ctx, debate.Config{
		ID:    id,
		Topic: "Does a debate belong to the process that runs it?",
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "script/without-a-key"}, {Name: "Ben", Side: debate.Against, Model: "script/without-a-key"},
		},
		Rounds:     2,
		Unattended: true, // no person decides what follows a failed call
	})
	return err
}
