// Command durable kills a debate and continues it. It starts itself as a second process, which holds the debate, and kills that process
// in the middle of a sentence. A third process opens the same journal and continues. A script speaks.
//
//	go run ./examples/durable
//
// It prints:
//
//	-- a process begins a debate --
//	Ada: It is. What was said stands in the journal, every word of it.
//	Ben: I doubt it. A speaker who loses the thread finds another one.
//	-- kill -9, while Ada speaks: 2 turns are recorded, and 1 call is in flight --
//	Ada: The thread is written down before anybody hears it.
//	Ben: Then you were killed in the middle of your sentence, and noticed nothing. I call that a draw.
//	-- the journal: 4 turns, 5 requests; recorded and asked again: 0 --
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store/file"
)

const middle = "…" // what is printed where the first process is to be killed

func main() {
	var err error
	if len(os.Args) == 3 { // this is one of the processes that were started here
		err = hold(context.Background(), os.Args[1], os.Args[2])
	} else {
		err = watch(context.Background())
	}
	if err != nil {
		log.Fatal(err)
	}
}

// open returns an engine on the journal of a folder.
func open(folder string, stops bool) (*debate.Engine, error) {
	store, err := file.Open(folder)
	return &debate.Engine{Store: store, Providers: map[string]debate.Provider{"script": script(stops)}}, err
}

// hold begins the debate, or continues it after the event of a number, and prints each turn when it is in the journal.
func hold(ctx context.Context, folder, seq string) error {
	after, err := strconv.ParseInt(seq, 10, 64)
	if err != nil {
		return err
	}
	engine, err := open(folder, after == 0)
	if err != nil {
		return err
	}
	// A start with the id of a stored debate continues it. Engine.Open does too, and needs no config.
	session, err := engine.Start(ctx, debate.Config{
		ID: "durable", Topic: "Is a debate that was interrupted still the same debate?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "script/any"}, {Name: "Ben", Side: debate.Against, Model: "script/any"},
		},
		Unattended: true, // nobody is asked what becomes of a failure
	})
	if err != nil {
		return err
	}
	defer session.Close()
	for event, err := range session.Events(ctx, after) {
		if err != nil {
			return err
		}
		switch body := event.Body.(type) {
		case *debate.Turn:
			fmt.Printf("%s: %s\n", body.Speaker, body.Text)
		case *flow.Chunk:
			if after == 0 && strings.HasPrefix(body.Text, "The thread") {
				fmt.Println(middle) // of a sentence: the process that watches kills this one
			}
		}
	}
	return nil
}

// watch starts the two processes, one after the other.
func watch(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "durable")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	fmt.Println("-- a process begins a debate --")
	first := exec.CommandContext(ctx, os.Args[0], folder, "0")
	output, _ := first.StdoutPipe()
	if err := first.Start(); err != nil {
		return err
	}
	for lines := bufio.NewScanner(output); lines.Scan() && lines.Text() != middle; {
		fmt.Println(lines.Text())
	}
	if err := first.Process.Kill(); err != nil { // SIGKILL: nothing of it runs any more
		return err
	}
	_ = first.Wait() // it says that it was killed
	engine, err := open(folder, false)
	if err != nil {
		return err
	}
	before, err := engine.Record(ctx, "durable") // any process may read
	if err != nil {
		return err
	}
	fmt.Printf("-- kill -9, while Ada speaks: %d turns are recorded, and %d call is in flight --\n", len(before.Turns), before.InFlight())
	second := exec.CommandContext(ctx, os.Args[0], folder, strconv.FormatInt(before.Seq, 10))
	second.Stdout, second.Stderr = os.Stdout, os.Stderr
	if err := second.Run(); err != nil {
		return err
	}
	after, err := engine.Record(ctx, "durable")
	if err != nil {
		return err
	}
	again := after.Spent().Requests - len(after.Turns) - before.InFlight()
	fmt.Printf("-- the journal: %d turns, %d requests; recorded and asked again: %d --\n", len(after.Turns), after.Spent().Requests, again)
	return nil
}

// script speaks. If it stops, Ada never ends her second turn.
func script(stops bool) *scripted.Provider {
	return &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		reply := scripted.Reply{Chunks: 2, Text: map[string]string{
			"Ada0": "It is. What was said stands in the journal, every word of it.",
			"Ben1": "I doubt it. A speaker who loses the thread finds another one.",
			"Ada2": "The thread is written down before anybody hears it.",
			"Ben3": "Then you were killed in the middle of your sentence, and noticed nothing. I call that a draw.",
		}[fmt.Sprint(req.Self, len(req.Messages))]}
		if stops && req.Self == "Ada" && len(req.Messages) == 2 {
			reply.Hold = make(chan struct{})
		}
		return reply
	}}
}
