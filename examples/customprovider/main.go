// Command customprovider debates with a provider of its own, offline: two models of which one turns
// round what it hears, as Eliza did in 1966, and the other insists.
//
//	go run ./examples/customprovider
//
// [Eliza] is all that it takes: one method, which streams. The test beside it puts it through the
// conformance suite of package providertest, as any adapter should be.
package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, 60*time.Millisecond); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:gocritic // stop has nothing left to do
	}
}

// run plays the debate at the pace of so long a word.
func run(ctx context.Context, w io.Writer, pace time.Duration) error {
	engine := &debate.Engine{Providers: map[string]debate.Provider{"parlour": &Eliza{Speak: words(pace)}}}
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
		switch {
		case event.Chunk != nil && event.Chunk.Offset == 0:
			_, err = fmt.Fprintf(w, "%s: %s", event.Chunk.By, event.Chunk.Text)
		case event.Chunk != nil:
			_, err = fmt.Fprint(w, event.Chunk.Text)
		case event.Turn != nil:
			_, err = fmt.Fprint(w, "\n")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// words speaks a reply word by word.
func words(pace time.Duration) func(context.Context, *provider.Request) iter.Seq2[Piece, error] {
	return func(ctx context.Context, req *provider.Request) iter.Seq2[Piece, error] {
		return func(yield func(Piece, error) bool) {
			for word := range strings.SplitAfterSeq(answer(req), " ") {
				select {
				case <-ctx.Done():
					yield(Piece{}, ctx.Err())
					return
				case <-time.After(pace):
				}
				if !yield(Piece{Text: word}, nil) {
					return
				}
			}
			yield(Piece{Stop: provider.StopEnd, Model: req.Model}, nil)
		}
	}
}

// answer is the model: what it says depends on the request alone.
func answer(req *provider.Request) string {
	heard := "I have nothing to say."
	if n := len(req.Messages); n > 0 {
		heard = req.Messages[n-1].Text
	}
	if req.Model == "patient" {
		complaints := []string{
			"I think that my words fall into a well.", "I know that you only turn round what I say.", "I am sure that nobody is there.",
		}
		return complaints[len(req.Messages)/2%len(complaints)]
	}
	turn := strings.NewReplacer("I am", "you are", "I ", "you ", "my ", "your ", "you ", "I ", ".", "")
	return "Why do you say that " + turn.Replace(heard) + "?"
}
