// Command worker lets two workers share a debate. It submits the debate, starts itself as a worker, and kills that process while a call
// is in flight. Another worker continues the debate. The jobs are River's, in the debates' database: here a file of SQLite.
//
//	go run ./examples/worker
//
// It prints:
//
//	The debate is submitted, and has a job. Worker 1 starts.
//	Ada: It belongs to its log.
//	Ben: A log pays nobody.
//	Worker 1 is killed while Ada speaks. Worker 2 starts.
//	Ada: I was cut off, and asked again.
//	Ben: By another process.
//	5 requests: one of them was lost with its worker.
package main

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	queue "github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	_ "modernc.org/sqlite" // database/sql's driver

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store/sql"
	"github.com/agonist-dev/debate/worker/river"
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

// open opens the database. Whatever gives a debate work gives it its job in the same transaction.
func open(ctx context.Context, file string, silent bool) (*debate.Engine, *river.Jobs, error) {
	db, err := stdsql.Open("sqlite", "file:"+filepath.ToSlash(file)+"?_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1) // SQLite has one writer
	jobs, err := river.New(db, riversqlite.New(db), river.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, nil, err
	}
	store, err := sql.Options{OnWake: jobs.OnWake}.OpenSQLite(ctx, file)
	if err != nil {
		return nil, nil, err
	}
	providers := map[string]debate.Provider{"script": script(silent)}
	// A debate of a worker that has disappeared is free after the time of a lease.
	return &debate.Engine{Store: store, Providers: providers, Lease: time.Second}, jobs, jobs.Migrate(ctx)
}

// work works on debates until ctx ends.
func work(ctx context.Context) error {
	engine, jobs, err := open(ctx, os.Args[2], os.Args[1] == "silent")
	if err != nil {
		return err
	}
	worker, err := jobs.Worker(engine, river.Config{Sweep: time.Second, River: &queue.Config{FetchPollInterval: 200 * time.Millisecond}})
	if err == nil {
		err = worker.Start(ctx)
	}
	if err != nil {
		return err
	}
	<-ctx.Done()
	return worker.Stop(context.WithoutCancel(ctx)) // it lets the calls in flight finish
}

// host submits a debate, starts the workers, and shows the log. It works on nothing itself.
func host(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "worker")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "debates.db")
	engine, _, err := open(ctx, file, false)
	if err != nil {
		return err
	}
	id, err := engine.Submit(ctx, debate.Config{ // it is stored with its job, and no call is made
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
	fmt.Println("The debate is submitted, and has a job. Worker 1 starts.")
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
