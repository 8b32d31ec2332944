// Command budget caps what a debate may cost: the worst case before the start, a warning that a person confirms, a soft limit that ends
// the rounds with a verdict, a hard limit that nothing passes, and the accounts at the end.
//
//	go run ./examples/budget
//
// A script speaks, at the prices of a real model.
//
// It prints:
//
//	At most: 25 calls, … tokens, $…. One round and its verdict: $….
//	The budget: a warning at $…, the verdict at $…, never more than $….
//
//	Round 1, Ada: … tokens for $…
//	Round 1, Ben: … tokens for $…
//	…
//	-- $… are spent. Confirmed: the debate goes on.
//	…
//	-- The rounds end (soft-limit), and the judge gives the verdict.
//	-- … wins.
//
//	…
//	  Ada … calls … tokens $…
//	  Ben … calls … tokens $…
//	  judge … calls … tokens $…
//	  all … calls … tokens $…
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	const model = "openai/gpt-4.1-mini" // the library knows its prices; Engine.Models adds those that it lacks
	script := &scripted.Provider{VendorName: "openai", Vouch: true, Reply: reply}
	engine := &debate.Engine{Providers: map[string]debate.Provider{"openai": script}}
	config := debate.Config{
		Topic: "Should cities ban private cars from their centres?", Format: format.RoundLimited, Rounds: 12, MaxTokens: 250,
		Participants: []debate.Participant{{Name: "Ada", Side: debate.For, Model: model}, {Name: "Ben", Side: debate.Against, Model: model}},
		Judging:      &debate.Judging{Judges: []debate.JudgeConfig{{Model: model, MaxTokens: 1500}}, When: debate.AtEnd},
	}

	// Before the start: what it costs if every reply is as long as it may be. No model is called.
	estimate, err := engine.Estimate(ctx, config)
	if err != nil {
		return err
	}
	one := estimate.FirstRound
	fmt.Printf("At most: %d calls, %d tokens, %s. One round and its verdict: %s.\n",
		estimate.Calls, estimate.Tokens, estimate.Cost.Rounded(), one.Rounded())

	// Most debates cost a fraction of that. Once the soft limit is spent, the rounds end and the verdict follows.
	config.Budget = &debate.Budget{Warn: one / 4, Confirm: true, Soft: one * 5 / 4, Hard: one * 2}
	fmt.Printf("The budget: a warning at %s, the verdict at %s, never more than %s.\n\n",
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
			fmt.Printf("Round %d, %s: %d tokens for %s\n", body.Round, body.Speaker, body.Usage.Output, body.Cost.Rounded())
		case *flow.Warning:
			if body.Kind == flow.WarnCost {
				fmt.Printf("-- %s are spent. ", body.Spend.Rounded())
			}
		case *flow.Inquiry: // a program with a person in front of it would ask
			if body.ID != flow.InquiryCost {
				return errors.New(body.Question) // what becomes of a call that has failed for good
			}
			fmt.Println("Confirmed: the debate goes on.")
			if err := session.Answer(ctx, flow.Answer{Inquiry: body.ID, Option: flow.OptionContinue}); err != nil {
				return err
			}
		case *flow.Transition:
			if body.To == flow.StateCompleting {
				fmt.Printf("-- The rounds end (%s), and the judge gives the verdict.\n", body.Reason)
			}
		case *debate.Verdict:
			fmt.Printf("-- %s wins.\n", body.Winner.Participant)
		}
	}
	record, err := session.Wait(ctx)
	if err != nil {
		return err
	}
	fmt.Println() // amounts are exact, and rounded only for people
	total := record.Spent()
	total.Name = "all"
	for _, account := range append(append(record.SpentByModel(), record.SpentByParticipant()...), total) {
		tokens := account.Usage.Input + account.Usage.Output
		fmt.Printf("  %-20s %3d calls %7d tokens %s\n", account.Name, account.Requests, tokens, account)
	}
	return nil
}

// reply plays the debaters and the judge.
func reply(req *provider.Request) scripted.Reply {
	switch {
	case req.Schema != nil:
		return scripted.Reply{Text: `{
			"summary": "Ada argued for a ban, Ben for a charge.", "winner": {"participant": "Ben", "reasoning": "He answered what was said."},
			"keyPoints": [{"participant": "Ada", "mainArguments": ["room"]}, {"participant": "Ben", "mainArguments": ["a price"]}],
			"scores": {"Ada": 75, "Ben": 80}, "criteria": {}, "qualityScore": 60, "insights": [],
			"areasOfAgreement": [], "areasOfDisagreement": []}`}
	case req.Self == "Ada":
		return scripted.Reply{Text: "Ben prices the road and leaves the jam where it is. A centre becomes a place only once the last car " +
			"has left it: then there is room for trees, for a tram at street level, and for children."}
	default:
		return scripted.Reply{Text: "Ada's ban asks an office whose errand counts. A charge asks everybody the same question, pays for " +
			"the buses, and is mended with a new number if it was wrong."}
	}
}
