// Command pauseresume moves a debate to another process in the middle of a round. A first engine is paused while somebody speaks, and
// gives a snapshot. A second engine, which has only that snapshot, continues to the end. No call is made twice.
//
//	go run ./examples/pauseresume
//
// A script speaks.
//
// It prints:
//
//	round 1, Ada: A debate is what was said. It stands in the log, whoever reads it.
//	round 1, Ben: And who speaks next? A log keeps the words, and not the breath before them.
//	-- … bytes are saved, and the first engine is gone --
//	round 1, Cyd: I heard nothing of it. To me it was one debate.
//	round 2, Ada: There is a witness.
//	round 2, Ben: There is a speaker who was never interrupted.
//	round 2, Cyd: Then ask me again when the machine is switched off.
//	6 calls were made, and none of them twice.
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider/scripted"
)

func main() {
	ctx, calls := context.Background(), make(map[string]int)
	snapshot, err := begin(ctx, calls)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("-- %d bytes are saved, and the first engine is gone --\n", len(snapshot))
	if err := finish(ctx, snapshot, calls); err != nil {
		log.Fatal(err)
	}
	for call, times := range calls {
		if times > 1 {
			log.Fatalf("%s was made %d times", call, times)
		}
	}
	fmt.Printf("%d calls were made, and none of them twice.\n", len(calls))
}

// begin pauses after the first turn, lets the call in flight finish, and returns a snapshot.
func begin(ctx context.Context, calls map[string]int) ([]byte, error) {
	session, err := newEngine().Start(ctx, debate.Config{
		ID: "moved", Topic: "Is a debate that was interrupted still the same debate?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Model: "script/any"}, {Name: "Ben", Model: "script/any"}, {Name: "Cyd", Model: "script/any"},
		},
		Unattended: true, // nobody is asked what becomes of a failure
	})
	if err != nil {
		return nil, err
	}
	defer session.Close()
	for event, err := range session.Events(ctx, 0) {
		if err != nil {
			return nil, err
		}
		show(&event, calls)
		if turn, ok := event.Body.(*debate.Turn); ok && turn.Speaker == "Ada" {
			if err := session.Control(ctx, flow.Pause{Drain: true}); err != nil { // without Drain, the call in flight is aborted
				return nil, err
			}
		}
		if record, err := session.Record(ctx); err != nil {
			return nil, err
		} else if record.State == flow.StatePaused && record.InFlight() == 0 && record.Seq == event.Seq {
			break // Ben has finished
		}
	}
	return session.Snapshot(ctx) // as confidential as the store: it holds the debate's secret
}

// finish plays the rest of a snapshot.
func finish(ctx context.Context, snapshot []byte, calls map[string]int) error {
	engine := newEngine()
	id, err := engine.Import(ctx, bytes.NewReader(snapshot))
	if err != nil {
		return err
	}
	session, err := engine.Open(ctx, id)
	if err != nil {
		return err
	}
	defer session.Close()
	before, err := session.Record(ctx)
	if err != nil {
		return err
	}
	if err := session.Resume(ctx); err != nil {
		return err
	}
	for event, err := range session.Events(ctx, before.Seq) {
		if err != nil {
			return err
		}
		show(&event, calls)
	}
	_, err = session.Wait(ctx)
	return err
}

// show prints the turns, and counts the calls.
func show(event *debate.Event, calls map[string]int) {
	switch body := event.Body.(type) {
	case *flow.Intent:
		calls[body.Call]++
	case *debate.Turn:
		fmt.Printf("round %d, %s: %s\n", body.Round, body.Speaker, body.Text)
	}
}

// newEngine returns the engine of each of the two processes. Its script goes by the call, whoever makes it.
func newEngine() *debate.Engine {
	say := func(text string) scripted.Reply { return scripted.Reply{Text: text, Delay: 150 * time.Millisecond} }
	return &debate.Engine{Providers: map[string]debate.Provider{"script": &scripted.Provider{ByID: map[string]scripted.Reply{
		"moved/r1.opening.Ada/1":  say("A debate is what was said. It stands in the log, whoever reads it."),
		"moved/r1.opening.Ben/1":  say("And who speaks next? A log keeps the words, and not the breath before them."),
		"moved/r1.opening.Cyd/1":  say("I heard nothing of it. To me it was one debate."),
		"moved/r2.argument.Ada/1": say("There is a witness."),
		"moved/r2.argument.Ben/1": say("There is a speaker who was never interrupted."),
		"moved/r2.argument.Cyd/1": say("Then ask me again when the machine is switched off."),
	}}}}
}
