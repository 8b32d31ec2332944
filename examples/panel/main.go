// Command panel has three judges from different model families decide one debate.
//
//	go run ./examples/panel
//	OPENROUTER_API_KEY=… go run ./examples/panel
//	OPENAI_API_KEY=… go run ./examples/panel
//
// Each judge marks every round by a rubric; the weighted totals are computed, not requested from the
// judge. At the end, each judge gives its verdict twice, with the debaters in one order and in the other.
// A judge whose winner changes with the order votes for nobody. The votes are independent, and the
// majority decides. The record keeps the opinions of the minority.
//
// A judge is recused if its model is of a debater's family; none is here. OpenRouter has models of many
// families. With only a key of OpenAI, all models are of one family, and the judges judge anyway. Without
// a key, a script plays them all.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:gocritic // the context has nothing left to stop
	}
}

func run(ctx context.Context) error {
	models := []string{ // of the debaters, and of the judges
		"openrouter/mistralai/mistral-small-3.2-24b-instruct",
		"openrouter/openai/gpt-4.1-mini", "openrouter/anthropic/claude-haiku-4.5", "openrouter/google/gemini-2.5-flash",
	}
	engine := &debate.Engine{Providers: map[string]debate.Provider{}}
	switch {
	case os.Getenv("OPENROUTER_API_KEY") != "":
		engine.Providers["openrouter"] = openaicompat.OpenRouter(os.Getenv("OPENROUTER_API_KEY"))
	case os.Getenv("OPENAI_API_KEY") != "":
		engine.Providers["openai"] = openaicompat.OpenAI(os.Getenv("OPENAI_API_KEY"))
		models = []string{"openai/gpt-4.1-mini", "openai/gpt-4.1", "openai/gpt-4o", "openai/gpt-5-mini"}
	default:
		fmt.Println("No API key: a script plays the debaters and the judges.")
		engine.Providers["openrouter"] = script()
	}
	config := debate.Config{
		Topic:  "Should written exams be open-book?",
		Format: format.StructuredRounds,
		Rounds: 2,
		Mode:   debate.Simultaneous, // so that both orders of a round are equally true
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: models[0]},
			{Name: "Ben", Side: debate.Against, Model: models[0]},
		},
		Judging: &debate.Judging{
			Judges:     []debate.JudgeConfig{{Name: "Iris", Model: models[1]}, {Name: "Juno", Model: models[2]}, {Name: "Kai", Model: models[3]}},
			Protocol:   debate.Majority,
			Rubric:     debate.DefaultRubric(),
			BothOrders: true,
			Anonymous:  true,
		},
	}
	id := ""
	for event, err := range engine.Run(ctx, config) {
		if err != nil {
			return err
		}
		if start, ok := event.Body.(*flow.Start); ok {
			id = start.Settings.ID
		}
		show(&event)
	}
	record, err := engine.Record(context.WithoutCancel(ctx), id)
	if err != nil {
		return err
	}
	if d, ok := debate.Of(record); ok {
		conclude(d)
	}
	return nil
}

// show prints an event. Speeches and reasons come from models, so they are cleaned.
func show(e *debate.Event) {
	switch body := e.Body.(type) {
	case *flow.Round:
		fmt.Printf("\nRound %d: %s\n", body.N, body.Phase)
	case *debate.Turn:
		fmt.Printf("  %s: %s\n", body.Speaker, stage.Clean(body.Text))
	case *debate.Assessment:
		marks := make([]string, 0, 2)
		for _, mark := range body.Assessments {
			marks = append(marks, fmt.Sprintf("%s %.2f", mark.Participant, mark.Score))
		}
		fmt.Printf("  [%s marks %s of 10]\n", body.Judge, strings.Join(marks, " and "))
	case *flow.Rejection:
		fmt.Printf("  [an answer of %s was not accepted: %s]\n", body.By, stage.Clean(body.Problems[0]))
	}
}

func conclude(d *debate.Debate) {
	fmt.Println("\nVerdicts")
	for _, v := range d.Verdicts {
		winner := "nobody"
		if v.Winner != nil {
			winner = v.Winner.Participant
		}
		order := map[bool]string{false: "one order", true: "the other order"}[v.Swapped]
		fmt.Printf("  %s, in %s: %s (Ada %.0f, Ben %.0f)\n", v.Judge, order, winner, v.Scores["Ada"], v.Scores["Ben"])
	}
	o := d.Outcome()
	fmt.Printf("\nOutcome\n  %d of %d judges have judged; votes: %v\n", o.Verdicts, o.Judges, o.Votes)
	fmt.Printf("  winner: %q (a tie: %t); mean scores: Ada %.1f, Ben %.1f\n", o.Winner, o.Tie, o.Scores["Ada"], o.Scores["Ben"])
	for _, other := range o.Dissent {
		fmt.Printf("  Dissent of %s, for %q: %s\n", other.Judge, other.Winner, stage.Clean(other.Reasoning))
	}
	fmt.Printf("  recused: %d judges; less than was configured: %q\n", len(d.Recused()), o.Degraded)
}
