// Command pauseresume moves a debate from one process to another in the middle of a round. A first engine
// is paused while somebody speaks, writes a snapshot to a file and is shut down. A second engine, which
// has only that file, continues to the end. No call is made twice.
//
//	go run ./examples/pauseresume
//	OPENAI_API_KEY=… go run ./examples/pauseresume
//
// Without a key a script speaks.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/scripted"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Getenv); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:gocritic // stop has nothing left to do
	}
}

// newEngine returns the engine of each of the two processes.
func newEngine(getenv func(string) string) *debate.Engine {
	if key := getenv("OPENAI_API_KEY"); key != "" {
		return &debate.Engine{Providers: map[string]debate.Provider{"openai": openaicompat.OpenAI(key)}}
	}
	script := func(req *provider.Request) scripted.Reply {
		return scripted.Reply{Text: fmt.Sprintf("This is what I have to say after %d turns.", len(req.Messages)), Delay: 200 * time.Millisecond}
	}
	return &debate.Engine{Providers: map[string]debate.Provider{"openai": &scripted.Provider{Reply: script}}}
}

func run(ctx context.Context, w io.Writer, getenv func(string) string) error {
	folder, err := os.MkdirTemp("", "debate")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, "debate.json")
	asked := make(map[string]int) // calls, in both engines
	if err := begin(ctx, w, newEngine(getenv), asked, file); err != nil {
		return err
	}
	if err := finish(ctx, w, newEngine(getenv), asked, file); err != nil {
		return err
	}
	most := 0
	for _, times := range asked {
		most = max(most, times)
	}
	_, err = fmt.Fprintf(w, "%d calls were made, none of them more than %d time.\n", len(asked), most)
	return err
}

// begin pauses after the first turn, lets the call in flight finish, and saves a snapshot.
func begin(ctx context.Context, w io.Writer, engine *debate.Engine, asked map[string]int, file string) error {
	const model = "openai/gpt-4.1-mini"
	session, err := engine.Start(ctx, debate.Config{
		Topic:  "Is a debate that was interrupted still the same debate?",
		Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Model: model}, {Name: "Ben", Model: model}, {Name: "Cyd", Model: model},
		},
		Unattended: true, // no person decides what follows a failed call
	})
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	for event, err := range session.Events(ctx, 0) {
		if err == nil {
			err = event.Err() // somebody has to remove the cause before it can continue
		}
		if err != nil {
			return err
		}
		show(w, &event, asked)
		if event.Kind() == flow.EventTurn && session.State() != flow.StatePaused {
			if err := session.Pause(ctx, debate.Drain); err != nil {
				return err
			}
		}
		if record, err := session.Record(ctx); err != nil {
			return err
		} else if record.State == flow.StatePaused && record.InFlight() == 0 && record.Seq == event.Seq {
			break
		}
	}
	snapshot, err := session.Snapshot(ctx)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(w, "-- %d bytes are saved, and the first engine is gone --\n", len(snapshot))
	return os.WriteFile(file, snapshot, 0o600) // it is as confidential as the store
}

// finish restores the snapshot and plays the rest.
func finish(ctx context.Context, w io.Writer, engine *debate.Engine, asked map[string]int, file string) error {
	snapshot, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = snapshot.Close() }()
	id, err := engine.Import(ctx, snapshot)
	if err != nil {
		return err
	}
	session, err := engine.Open(ctx, id)
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	before, err := session.Record(ctx)
	if err != nil {
		return err
	}
	if err := session.Resume(ctx); err != nil {
		return err
	}
	for event, err := range session.Events(ctx, before.Seq) {
		if err == nil {
			err = event.Err() // somebody has to remove the cause before it can continue
		}
		if err != nil {
			return err
		}
		show(w, &event, asked)
	}
	_, err = session.Wait(ctx)
	return err
}

// show prints the turns, and counts the calls.
func show(w io.Writer, event *debate.Event, asked map[string]int) {
	switch body := event.Body.(type) {
	case *flow.Intent:
		asked[body.Call]++
	case *debate.Turn:
		_, _ = fmt.Fprintf(w, "round %d, %s: %s\n", body.Round, body.Speaker, stage.Clean(body.Text))
	}
}
