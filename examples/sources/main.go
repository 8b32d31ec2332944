// Command sources holds a debate between two models that think and search the web before they speak. It prints their
// thoughts as they stream, marked by "~", then each turn with the pages that it cites.
//
//	go run ./examples/sources
//	OPENROUTER_API_KEY=… go run ./examples/sources
//
// Without a key, a script plays both. Vendors bill searches in addition to tokens.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	engine, model := choose(os.Getenv)
	err := run(ctx, stage.Printer{Out: os.Stdout}, engine, model)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, stage.Clean(err.Error()))
		os.Exit(1)
	}
}

// choose returns an engine whose model thinks and searches. Few models do both.
func choose(getenv func(string) string) (engine *debate.Engine, model string) {
	if key := getenv("OPENROUTER_API_KEY"); key != "" {
		return &debate.Engine{Providers: map[string]debate.Provider{"openrouter": openaicompat.OpenRouter(key)}}, "openrouter/openai/gpt-5-mini"
	}
	return &debate.Engine{Providers: map[string]debate.Provider{"script": script()}}, "script/without-a-key"
}

func run(ctx context.Context, p stage.Printer, engine *debate.Engine, model string) error {
	// What a vendor or a model surely cannot do is refused before anything is paid.
	options := &provider.Options{Effort: provider.EffortHigh, Search: true}
	config := debate.Config{
		Topic: "Should the street lights go out at midnight?", Rounds: 2, TurnTimeout: 10 * time.Minute,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: model, Options: options},
			{Name: "Ben", Side: debate.Against, Model: model, Options: options},
		},
		Unattended: true, // no person decides what follows a failed call
	}
	p.Linef("%s\nAda is for it, Ben is against it. Both are played by %s.", config.Topic, model)
	thoughts := thinker{p: p}
	for event, err := range engine.Run(ctx, config) {
		if err != nil {
			return err
		}
		switch body := event.Body.(type) {
		case *flow.Intent:
			thoughts.end()
			p.Linef("\n%s, round %d", body.By, body.Round)
		case *flow.Chunk:
			if body.Reasoning { // the chunks of the reply come too; this program prints the whole turn
				thoughts.hear(body)
			}
		case *debate.Turn:
			thoughts.end()
			show(p, body)
		case *flow.Failure:
			thoughts.end()
			p.Speak("  ", fmt.Sprintf("[%s gave no answer: %v]", body.By, body.Error))
		}
	}
	return nil
}
