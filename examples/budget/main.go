// Command budget shows what a debate may cost, before it starts and while it runs: the worst case, a
// warning that must be acknowledged, a soft limit that ends the rounds with a verdict, and the accounts.
//
//	go run ./examples/budget
//	OPENAI_API_KEY=… go run ./examples/budget
//
// It uses a model if it finds OPENAI_API_KEY, OPENROUTER_API_KEY or MISTRAL_API_KEY. Without a key it
// plays a script, at the prices of a real model.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	engine, model := choose(os.Getenv)
	err := run(ctx, os.Stdout, engine, model)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, engine *debate.Engine, model string) error {
	config := debate.Config{
		Topic: "Should cities ban private cars from their centres?", Format: format.RoundLimited, Rounds: 12, MaxTokens: 250,
		Participants: []debate.Participant{{Name: ada, Side: debate.For, Model: model}, {Name: ben, Side: debate.Against, Model: model}},
		Judging:      &debate.Judging{Judges: []debate.JudgeConfig{{Model: model, MaxTokens: 1500}}, When: debate.AtEnd},
	}

	// Before the start: the cost if every reply is as long as it may be. No model is called.
	estimate, err := engine.Estimate(ctx, config)
	if err != nil {
		return err
	}
	p := stage.Printer{Out: out}
	p.Linef("At most: %d calls, %d tokens, %s. One round and its verdict: %s.",
		estimate.Calls, estimate.Tokens, estimate.Cost.Rounded(), estimate.FirstRound.Rounded())

	// Most debates cost a fraction of that. Once the soft limit is spent, the rounds end and the verdict follows: here that is as many
	// rounds as the worst case of little more than one round pays for. The hard limit is never passed.
	config.Budget = &debate.Budget{
		Warn: estimate.FirstRound / 4, Confirm: true, Soft: estimate.FirstRound * 5 / 4, Hard: estimate.FirstRound * 2,
	}
	p.Linef("The budget: a warning at %s, the verdict at %s, never more than %s.\n",
		config.Budget.Warn.Rounded(), config.Budget.Soft.Rounded(), config.Budget.Hard.Rounded())

	session, err := engine.Start(ctx, config)
	if err != nil {
		return err
	}
	defer session.Close()
	for event, err := range session.Events(ctx, 0) {
		if err != nil {
			return err
		}
		switch body := event.Body.(type) {
		case *debate.Turn:
			p.Linef("Round %d, %s: %d tokens for %s", body.Round, body.Speaker, body.Usage.Output, body.Cost.Rounded())
		case *flow.Warning:
			if body.Kind == flow.WarnCost {
				p.Linef("-- %s are spent.", body.Spend.Rounded())
			}
		case *flow.Transition:
			if body.To == flow.StateCompleting {
				p.Linef("-- The rounds end (%s), and the judge gives the verdict.", body.Reason)
			}
			if body.To == flow.StateError {
				return event.Err()
			}
		case *flow.Inquiry:
			if body.ID != flow.InquiryCost { // a call has failed for good, and nobody can be asked what becomes of it
				return errors.New(body.Question)
			}
			p.Linef("-- Acknowledged: the debate goes on.")
			// A program with a person in front of it would ask.
			if err := session.Answer(ctx, flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}); err != nil {
				return err
			}
		}
	}
	record, err := session.Wait(ctx)
	if err != nil {
		return err
	}
	accounts(p, record)
	return nil
}
