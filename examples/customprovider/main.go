// Command customprovider debates with an unknown vendor, through an adapter written for it: custom.go is
// the file to copy. The vendor is Parlour (server.go). One of its models turns round what it hears, as
// Eliza did in 1966, and the other insists. The server runs on a port of this machine, so the program
// needs neither a network nor a key:
//
//	go run ./examples/customprovider
//
// custom_test.go runs four suites over it: they compare its results with what the vendor sent, ask it for what it may lack, hide thoughts
// in its texts, and do to its connection whatever can happen to one.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := serve(ctx, os.Stdout, 60*time.Millisecond)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve opens the parlour on a loopback port, and debates there.
func serve(ctx context.Context, w io.Writer, pace time.Duration) error {
	const key = "a-calling-card"
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: &Server{Key: key, Speak: words(pace)}, ReadHeaderTimeout: time.Minute}
	defer func() { _ = server.Close() }()
	go func() { _ = server.Serve(listener) }() // until Close
	return run(ctx, w, New("http://"+listener.Addr().String(), key))
}

// run plays the debate.
func run(ctx context.Context, w io.Writer, parlour debate.Provider) error {
	engine := &debate.Engine{Providers: map[string]debate.Provider{"parlour": parlour}}
	config := debate.Config{
		Topic:  "Can a program listen?",
		Rounds: 3,
		Participants: []debate.Participant{
			{Name: "Eliza", Side: debate.For, Model: "parlour/doctor"},
			{Name: "Carl", Side: debate.Against, Model: "parlour/patient"},
		},
	}
	for event, err := range engine.Run(ctx, config) {
		if err != nil {
			return err
		}
		switch body := event.Body.(type) {
		case *flow.Chunk: // the debate has no judge: each is a piece of a turn
			text := body.Text
			if body.Offset == 0 {
				text = body.By + ": " + text
			}
			_, err = fmt.Fprint(w, text)
		case *debate.Turn:
			_, err = fmt.Fprint(w, "\n")
		}
		if err != nil {
			return err
		}
	}
	return nil
}
