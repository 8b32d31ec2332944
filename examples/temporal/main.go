// Command temporal runs a debate on Temporal and kills the worker that makes its calls. It starts a Temporal server in this process,
// with its data in a folder, and itself as a worker. When the worker has been killed in the middle of a call, it starts another one,
// which continues: recorded calls are not repeated, and the call in flight is made once more.
//
// It is a module of its own, because building the server takes minutes the first time:
//
//	cd examples/temporal
//	GOWORK=off go run .
//
// A script speaks. With a server of your own (temporal server start-dev), only work and begin are needed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/test/temporal/server"
	"github.com/agonist-dev/debate/runtime/temporal"
)

const (
	id    = "durable"
	queue = "debates"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:gocritic // stop has nothing left to do
	}
}

// run is the process that watches, or with -work the worker.
func run(ctx context.Context, w io.Writer, args []string) error {
	flags := flag.NewFlagSet("temporal", flag.ContinueOnError)
	place := flags.String("work", "", "work on the debates in this folder: what the processes that are started here do")
	address := flags.String("server", "", "where the worker finds the Temporal server")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if *place != "" {
		return work(ctx, *place, *address)
	}
	folder, err := os.MkdirTemp("", "temporal")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	running, err := server.Start(server.Options{File: filepath.Join(folder, "temporal.db")})
	if err != nil {
		return err
	}
	defer func() { _ = running.Stop() }()
	return watch(ctx, w, folder, running.Address)
}

// watch begins the debate, shows it, and kills its worker.
func watch(ctx context.Context, w io.Writer, folder, address string) error {
	engine, err := newEngine(ctx, folder)
	if err != nil {
		return err
	}
	connection, err := dial(ctx, address)
	if err != nil {
		return err
	}
	defer connection.Close()
	debates := &temporal.Client{Engine: engine, Temporal: connection, TaskQueue: queue}
	if _, err := debates.Start(ctx, config()); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(w, "-- the debate is stored, and its workflow waits; a worker starts --")
	first, err := start(ctx, folder, address)
	if err != nil {
		return err
	}
	defer func() { first.kill() }()
	begun, asked, void := 0, make(map[string]int), 0
	for event, err := range engine.Events(ctx, id, 0) {
		if err != nil {
			return err
		}
		switch body := event.Body.(type) {
		case *flow.Intent:
			asked[body.Call]++
			if begun++; begun == 3 { // the third call is in flight
				first.kill()
				_, _ = fmt.Fprintln(w, "-- kill -9: the worker is gone; another one starts --")
				if first, err = start(ctx, folder, address); err != nil {
					return err
				}
			}
		case *flow.Failure:
			void++
			_, _ = fmt.Fprintf(w, "   %s was in flight: nobody knows what became of it, so it counts as broken off and is made again\n", body.Call)
		case *debate.Turn:
			if asked[body.Call] > 1 && void == 0 {
				return fmt.Errorf("%s was asked again without need", body.Call)
			}
			_, _ = fmt.Fprintf(w, "%s: %s\n", body.Speaker, body.Text)
		}
	}
	status, err := debates.Wait(ctx, id)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(w, "-- the workflow has ended: %s; %d calls, lost and made again: %d --\n", status.State, len(asked), void)
	return nil
}

// dial waits until the server answers.
func dial(ctx context.Context, address string) (client.Client, error) {
	for tries := 0; ; tries++ {
		connection, err := client.DialContext(ctx, client.Options{HostPort: address, Logger: quiet{}})
		if err == nil || tries == 100 {
			return connection, err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
