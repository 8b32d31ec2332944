// Command oxford holds an Oxford debate: two against two, a moderator, and an audience of five that votes
// before and after. No judge decides: the side that wins over more of the audience wins.
//
//	go run ./examples/oxford
//	OPENAI_API_KEY=… go run ./examples/oxford
//	OPENAI_BASE_URL=http://localhost:11434/v1 OPENAI_MODEL=… go run ./examples/oxford
//
// OPENROUTER_API_KEY and MISTRAL_API_KEY work too. The debate has 34 speeches and 10 ballots. Without a
// key, a script plays them all.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/format"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	engine, model := stage.Choose(os.Getenv, script())
	err := run(ctx, stage.Printer{Out: os.Stdout}, engine, model)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, stage.Clean(err.Error()))
		os.Exit(1)
	}
}

func run(ctx context.Context, p stage.Printer, engine *debate.Engine, model string) error {
	config := debate.Config{
		ID: "oxford", Topic: "Public transport in our city should be free.", Format: format.Oxford, TurnTimeout: 10 * time.Minute,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: model, Persona: "an economist who counts what a fare costs"},
			{Name: "Ravi", Side: debate.For, Model: model, Persona: "a teacher in a poor quarter"},
			{Name: "Ben", Side: debate.Against, Model: model, Persona: "a planner of tram lines"},
			{Name: "Mara", Side: debate.Against, Model: model, Persona: "a social worker who has seen what is spent on whom"},
			{Name: "Nora", Side: debate.Neutral, Model: model}, // the format makes the neutral side its chair
		},
		Audience: &debate.Audience{Members: []debate.Member{ // the first two put questions to the speakers
			{Name: "Tom", Model: model, Persona: "a bus driver"},
			{Name: "Lena", Model: model, Persona: "a student who cycles"},
			{Name: "Omar", Model: model, Persona: "a shopkeeper in the centre"},
			{Name: "Ines", Model: model, Persona: "a nurse on night shifts"},
			{Name: "Paul", Model: model, Persona: "a pensioner on the edge of the city"},
		}},
	}
	p.Linef("The motion: %s\nFor it: Ada and Ravi. Against it: Ben and Mara. In the chair: Nora.", config.Topic)
	p.Linef("All of them are played by %s.", model)
	for event, err := range engine.Run(ctx, config) {
		if err != nil {
			return err
		}
		show(p, &event)
	}
	record, err := engine.Record(context.WithoutCancel(ctx), config.ID)
	if err != nil {
		return err
	}
	if d, ok := debate.Of(record); ok {
		votes(p, d)
		swing(p, d.Outcome())
	}
	return nil
}
