package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/worker"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/runtime/temporal"
	"github.com/agonist-dev/debate/store/sql"
)

// work is a worker. It runs until it is killed, or interrupted.
func work(ctx context.Context, folder, address string) error {
	engine, err := newEngine(ctx, folder)
	if err != nil {
		return err
	}
	connection, err := dial(ctx, address)
	if err != nil {
		return err
	}
	defer connection.Close()
	w := worker.New(connection, queue, worker.Options{WorkerStopTimeout: 10 * time.Second})
	if err := temporal.Register(w, engine); err != nil {
		return err
	}
	if err := w.Start(); err != nil {
		return err
	}
	defer w.Stop()
	fmt.Println("ready")
	<-ctx.Done()
	return nil
}

// newEngine is an engine on the store that all processes share.
func newEngine(ctx context.Context, folder string) (*debate.Engine, error) {
	store, err := sql.OpenSQLite(ctx, filepath.Join(folder, "debates.db"))
	if err != nil {
		return nil, err
	}
	return &debate.Engine{
		Providers: map[string]debate.Provider{"script": script()}, Store: store,
		Lease: 3 * time.Second, // after which a worker that is silent has lost its calls
		// The price is known, so it can be said what a call whose outcome is unknown has cost at most.
		Models: map[string]debate.Model{"script/model": {Window: 100_000, Input: 1_000_000, Output: 4_000_000, Priced: true}},
	}, nil
}

func config() debate.Config {
	return debate.Config{
		ID:    id,
		Topic: "Is a debate that was interrupted still the same debate?",
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "script/model"}, {Name: "Ben", Side: debate.Against, Model: "script/model"},
		},
		Rounds:     2,
		Unattended: true, // no person decides what follows a failed call
	}
}

// script takes a second for each turn.
func script() *scripted.Provider {
	return &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		second := len(req.Messages) >= 2
		text := "It is. What was said stands in the store, every word of it, and nobody has to say it again."
		switch {
		case req.Self == "Ben" && !second:
			text = "I doubt it. Another worker takes over, and a speaker who loses the thread finds another one."
		case req.Self == "Ada" && second:
			text = "The thread is written down before anybody hears it. Kill the worker, and it is there for the next one."
		case second:
			text = "Then a worker was killed in the middle of a sentence, and nobody noticed. I call that a draw."
		}
		return scripted.Reply{Text: text, Delay: time.Second}
	}}
}

// process is a worker that was started here.
type process struct{ command *exec.Cmd }

// start starts this program as a worker, and returns once it listens.
func start(ctx context.Context, folder, address string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, self, "-work", folder, "-server", address) //nolint:gosec // it is this program
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	if _, err := bufio.NewReader(output).ReadString('\n'); err != nil {
		return nil, fmt.Errorf("the worker has not begun: %w", err)
	}
	return &process{command}, nil
}

// kill ends the process as kill -9 does: nothing of it runs any more.
func (p *process) kill() {
	_ = p.command.Process.Kill()
	_ = p.command.Wait()
}

// quiet is a logger of Temporal's that says nothing: the worker that is killed would be reported.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
