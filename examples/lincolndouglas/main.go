// Command lincolndouglas holds a Lincoln-Douglas debate: one against one, about values. Each side names a
// value and a criterion that measures it, and is cross-examined on them. The judge marks both rounds by a
// rubric; the weighted totals are computed, not requested from the judge.
//
//	go run ./examples/lincolndouglas
//	OPENAI_API_KEY=… go run ./examples/lincolndouglas
//	OPENAI_BASE_URL=http://localhost:11434/v1 OPENAI_MODEL=… go run ./examples/lincolndouglas
//
// OPENROUTER_API_KEY and MISTRAL_API_KEY work too. Without a key, a script plays debaters and judge.
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
		ID: "lincoln-douglas", Topic: "A democracy ought to make voting compulsory.", Format: format.LincolnDouglas,
		TurnTimeout: 10 * time.Minute,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: model, Position: "Value: political equality. Criterion: whose voice counts."},
			{Name: "Ben", Side: debate.Against, Model: model, Position: "Value: liberty. Criterion: who is harmed."},
		},
		Judging: &debate.Judging{Judges: []debate.JudgeConfig{{Name: "Iris", Model: model}}, Rubric: debate.DefaultRubric()},
	}
	p.Linef("Resolved: %s", config.Topic)
	for _, one := range config.Participants {
		p.Linef("  %s, %s. %s", one.Name, one.Side, one.Position)
	}
	p.Linef("All of them, and the judge, are played by %s.", model)
	for event, err := range engine.Run(ctx, config) {
		if err != nil {
			return err
		}
		show(p, &event, config.Judging.Rubric)
	}
	record, err := engine.Record(context.WithoutCancel(ctx), config.ID)
	if err != nil {
		return err
	}
	if d, ok := debate.Of(record); ok {
		conclude(p, d)
	}
	return nil
}
