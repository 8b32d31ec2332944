package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store/file"
)

// hold runs the debate to its end, unless the process ends first. Every step is in the journal before it
// is shown.
func hold(ctx context.Context, w io.Writer, dir string, again bool) error {
	store, err := file.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	engine, model := stage.Choose(os.Getenv, script(again))
	engine.Store = store
	// The price is known, so it can be said what a call whose outcome is unknown has cost at most.
	engine.Models = map[string]debate.Model{"script/without-a-key": {Window: 100_000, Input: 1_000_000, Output: 4_000_000, Priced: true}}

	session, err := begin(ctx, engine, model, again)
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	from := int64(0)
	if again { // everything before the crash has been shown
		record, err := session.Record(ctx)
		if err != nil {
			return err
		}
		from = record.Seq
	}
	for event, err := range session.Events(ctx, from) {
		if err == nil {
			err = event.Err() // somebody has to remove the cause before it can continue
		}
		if err != nil {
			return err
		}
		switch body := event.Body.(type) {
		case *flow.Chunk:
			if body.Schema != "" { // a structured answer
				continue
			}
			if body.Offset == 0 {
				_, _ = fmt.Fprintf(w, "%s: ", body.By)
			}
			_, _ = fmt.Fprint(w, printable(body.Text))
		case *debate.Turn:
			_, _ = fmt.Fprintln(w)
		}
	}
	_, err = session.Wait(ctx)
	return err
}

func begin(ctx context.Context, engine *debate.Engine, model string, again bool) (*debate.Session, error) {
	if again {
		return engine.Open(ctx, id)
	}
	return engine.Start(ctx, debate.Config{
		ID:    id,
		Topic: "Is a debate that was interrupted still the same debate?",
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: model}, {Name: "Ben", Side: debate.Against, Model: model},
		},
		Rounds:     2,
		Unattended: true, // no person decides what follows a failed call
	})
}

// printable removes what could control a terminal, or begin a line, from a piece of a text.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		default:
			return -1
		}
	}, text)
}

// script speaks. Before the crash Ada stops in the middle of her second speech, so that she is killed there.
func script(again bool) *scripted.Provider {
	return &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		second := len(req.Messages) >= 2
		text := "It is. What was said stands in the journal, every word of it, and nobody has to say it again."
		switch {
		case req.Self == "Ben" && !second:
			text = "I doubt it. A speaker who loses the thread finds another one, and the debate takes another way."
		case req.Self == "Ada" && second:
			text = "The thread is written down before anybody hears it. Cut the power, and it is there in the morning."
		case second:
			text = "Then Ada was killed in the middle of her sentence, and noticed nothing. I call that a draw."
		}
		reply := scripted.Reply{Text: text, Chunks: 20, Delay: 50 * time.Millisecond, Interval: 10 * time.Millisecond}
		if !again && req.Self == "Ada" && second {
			reply.Chunks, reply.Hold = 2, make(chan struct{})
		}
		return reply
	}}
}
