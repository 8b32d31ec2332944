// Command worker lets two workers share a debate. It submits the debate, starts itself as a worker, and kills that process while a call
// is in flight. Another worker continues the debate. The debates stand in a file of SQLite. In PostgreSQL, workers on many machines
// share them in the same way.
//
//	go run ./examples/worker
//
// It prints:
//
//	The debate is submitted. Worker 1 starts.
//	Ada: It belongs to its log.
//	Ben: A log pays nobody.
//	Worker 1 is killed while Ada speaks. Worker 2 starts.
//	Ada: I was cut off, and asked again.
//	Ben: By another process.
//	5 requests: one of them was lost with its worker.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store/sql"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	run := host
	if len(os.Args) == 3 { // this is a worker that was started here
		run = work
	}
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

// open opens the debates of a file.
func open(ctx context.Context, file string, silent bool) (*debate.Engine, *sql.Store, error) {
	store, err := sql.OpenSQLite(ctx, file)
	if err != nil {
		return nil, nil, err
	}
	return &debate.Engine{Store: store, Providers: map[string]debate.Provider{"script": script(silent)}}, store, nil
}

// work runs debates until ctx ends, and then lets the calls in flight finish.
func work(ctx context.Context) error {
	engine, store, err := open(ctx, os.Args[2], os.Args[1] == "silent")
	if err != nil {
		return err
	}
	defer store.Close()
	return engine.Work(ctx, debate.Work{})
}

// host submits a debate, starts the workers, and shows the log. It runs nothing itself.
func host(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "worker")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "debates.db")
	engine, store, err := open(ctx, file, false)
	if err != nil {
		return err
	}
	defer store.Close()
	id, err := engine.Submit(ctx, debate.Config{ // it is stored, and no call is made
		Topic: "Does a debate belong to the process that runs it?", Rounds: 2, Unattended: true,
		Participants: []debate.Participant{{Name: "Ada", Model: "script/any"}, {Name: "Ben", Model: "script/any"}},
	})
	if err != nil {
		return err
	}
	start := func(part string) *exec.Cmd {
		worker := exec.CommandContext(ctx, os.Args[0], part, file)
		worker.Stderr = os.Stderr
		err = errors.Join(err, worker.Start())
		return worker
	}
	fmt.Println("The debate is submitted. Worker 1 starts.")
	worker, requests := start("silent"), 0
	for event, failure := range engine.Events(ctx, id, 0) {
		if err := errors.Join(err, failure); err != nil {
			return err
		}
		switch body := event.Body.(type) {
		case *flow.Intent:
			if requests++; requests == 3 { // Ada has begun again
				_ = worker.Process.Kill() // SIGKILL: nothing of the process runs any more
				_ = worker.Wait()
				fmt.Println("Worker 1 is killed while Ada speaks. Worker 2 starts.")
				worker = start("speaking")
			}
		case *flow.Turn:
			fmt.Printf("%s: %s\n", body.Speaker, body.Text)
		}
	}
	fmt.Printf("%d requests: one of them was lost with its worker.\n", requests)
	_ = worker.Process.Signal(os.Interrupt)
	return worker.Wait()
}

// script speaks slowly. If it is silent, Ada never ends her second turn.
func script(silent bool) *scripted.Provider {
	return &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		reply := scripted.Reply{Delay: 300 * time.Millisecond, Text: map[string]string{
			"Ada0": "It belongs to its log.", "Ben1": "A log pays nobody.", "Ada2": "I was cut off, and asked again.", "Ben3": "By another process.",
		}[fmt.Sprint(req.Self, len(req.Messages))]}
		if silent && len(req.Messages) == 2 {
			reply.Delay = time.Hour
		}
		return reply
	}}
}
