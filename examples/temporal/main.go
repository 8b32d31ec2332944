// Command temporal runs a debate on Temporal and kills the worker that makes its calls. Another one repeats only the call in flight.
//
//	cd internal/test/temporal && GOWORK=off go run ./serve go run -C ../../../examples/temporal .
//
// In a clone, that builds a server first, which takes some minutes. With one of your own (temporal server start-dev), whose address is in
// TEMPORAL_ADDRESS, it is GOWORK=off go run . in this folder. A script speaks. Temporal's client is large: the example is a module.
//
// It prints:
//
//	The debate is stored, and its workflow waits. A worker starts.
//	Ada: It is. What was said stands in the store, every word of it.
//	Ben: I doubt it. A speaker who loses the thread finds another one.
//	kill -9: the worker is gone. Another one starts.
//	Ada: The thread is there for the next worker.
//	Ben: Then nobody has noticed. I call that a draw.
//	The workflow has ended: completed. 5 requests: one of them was lost with its worker.
package main

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/runtime/temporal"
	"github.com/agonist-dev/debate/store/sql"
)

const queue, id = "debates", "durable"

func main() {
	ctx := context.Background()
	connection, err := dial(ctx)
	if err != nil {
		fmt.Println("No Temporal server answers. Start one: temporal server start-dev")
		return
	}
	defer connection.Close()
	run := watch
	if len(os.Args) == 2 { // this is a worker that was started here
		run = work
	}
	if err := run(ctx, connection); err != nil {
		log.Fatal(err) //nolint:gocritic // the connection ends with the process
	}
}

// dial waits until the server answers, for a while.
func dial(ctx context.Context) (connection client.Client, err error) {
	quiet := sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)) // the worker that is killed would be reported
	for range 30 {
		connection, err = client.DialContext(ctx, client.Options{HostPort: os.Getenv("TEMPORAL_ADDRESS"), Logger: quiet})
		if err == nil {
			return connection, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil, err
}

// newEngine is an engine on the store that all processes share.
func newEngine(ctx context.Context, folder string) (*debate.Engine, error) {
	store, err := sql.OpenSQLite(ctx, filepath.Join(folder, "debates.db"))
	providers := map[string]debate.Provider{"script": &scripted.Provider{Reply: reply}}
	// After the time of a lease, a worker that is silent has lost its calls.
	return &debate.Engine{Store: store, Providers: providers, Lease: 3 * time.Second}, err
}

// work is a worker. It runs until it is killed, or interrupted.
func work(ctx context.Context, connection client.Client) error {
	engine, err := newEngine(ctx, os.Args[1])
	if err != nil {
		return err
	}
	w := worker.New(connection, queue, worker.Options{WorkerStopTimeout: 10 * time.Second})
	if err := temporal.Register(w, engine); err != nil {
		return err
	}
	return w.Run(worker.InterruptCh())
}

// watch begins the debate, shows it, and kills its worker.
func watch(ctx context.Context, connection client.Client) error {
	folder, err := os.MkdirTemp("", "temporal")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	engine, err := newEngine(ctx, folder)
	if err != nil {
		return err
	}
	debates := &temporal.Client{Engine: engine, Temporal: connection, TaskQueue: queue}
	_, err = debates.Start(ctx, debate.Config{
		ID: id, Topic: "Is it still the same debate?", Rounds: 2, Unattended: true,
		Participants: []debate.Participant{{Name: "Ada", Model: "script/any"}, {Name: "Ben", Model: "script/any"}},
	})
	if err != nil {
		return err
	}
	start := func() *exec.Cmd {
		worker := exec.CommandContext(ctx, os.Args[0], folder) //nolint:gosec // it is this program
		if err := worker.Start(); err != nil {
			log.Fatal(err)
		}
		return worker
	}
	fmt.Println("The debate is stored, and its workflow waits. A worker starts.")
	worker, requests := start(), 0
	for event, err := range engine.Events(ctx, id, 0) {
		if err != nil {
			return err
		}
		switch body := event.Body.(type) {
		case *flow.Intent:
			if requests++; requests == 3 { // the third call is in flight
				_ = worker.Process.Kill()
				_ = worker.Wait()
				fmt.Println("kill -9: the worker is gone. Another one starts.")
				worker = start()
			}
		case *debate.Turn:
			fmt.Printf("%s: %s\n", body.Speaker, body.Text)
		}
	}
	status, err := debates.Wait(ctx, id)
	fmt.Printf("The workflow has ended: %s. %d requests: one of them was lost with its worker.\n", status.State, requests)
	_ = worker.Process.Kill()
	return err
}

// reply takes a second for each turn.
func reply(req *provider.Request) scripted.Reply {
	return scripted.Reply{Delay: time.Second, Text: []string{
		"It is. What was said stands in the store, every word of it.", "I doubt it. A speaker who loses the thread finds another one.",
		"The thread is there for the next worker.", "Then nobody has noticed. I call that a draw.",
	}[min(len(req.Messages), 3)]}
}
