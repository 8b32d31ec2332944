// Command customformat holds a debate in its own format: a design review. The format is data, in
// format.json: an author presents, two reviewers speak at once and never read each other, and the author
// answers each of them. Nobody wins.
//
//	go run ./examples/customformat
//	OPENAI_API_KEY=… go run ./examples/customformat
//	OPENAI_BASE_URL=http://localhost:11434/v1 OPENAI_MODEL=… go run ./examples/customformat
//
// OPENROUTER_API_KEY and MISTRAL_API_KEY work too. Without a key, a script plays them all.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
)

// source is the format. A host program may also keep it in a database, or let its users write it.
//
//go:embed format.json
var source []byte

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
	format, err := format.Parse(source)
	if err != nil {
		return err
	}
	config := debate.Config{
		Topic:        "Background jobs move from the broker into a table of our database.",
		CustomFormat: &format, TurnTimeout: 10 * time.Minute,
		Participants: []debate.Participant{ // the format's edges know them by these names
			{Name: "Author", Side: debate.For, Model: model, Persona: "a developer of an online shop with forty jobs a second"},
			{Name: "Operations", Side: debate.Neutral, Model: model, Persona: "runs the databases, and is called at night"},
			{Name: "Security", Side: debate.Neutral, Model: model, Persona: "answers for customers' data"},
		},
	}
	if err := engine.Validate(ctx, config); err != nil {
		return err
	}
	p.Linef("The design: %s\nAll of them are played by %s.", config.Topic, model)
	schedule(p, &config)
	for event, err := range engine.Run(ctx, config) {
		if err != nil {
			return err
		}
		show(p, &event)
	}
	return nil
}

// schedule prints who is going to speak. That follows from the format and the config alone; no model is
// called.
func schedule(p stage.Printer, c *debate.Config) {
	f, cast := c.CustomFormat, format.Cast{}
	for _, one := range c.Participants {
		cast.Seats = append(cast.Seats, format.Seat{Name: one.Name, Side: one.Side})
	}
	for round := 1; round <= f.Rounds; round++ {
		phase := f.Phase(round, f.Rounds)
		p.Linef("\nRound %d will be: %s", round, phase.Name)
		for _, speech := range f.Schedule(cast, round) {
			line := fmt.Sprintf("  %d. %-10s  %-11s  about %3d words", speech.Slot+1, speech.Speaker, speech.Kind, speech.Words)
			if speech.Target != "" {
				line += ", to " + speech.Target
			}
			if speech.Group > 0 {
				line += fmt.Sprintf(", at once (group %d)", speech.Group)
			}
			p.Linef("%s", line)
		}
	}
}

// show prints an event.
func show(p stage.Printer, e *debate.Event) {
	switch body := e.Body.(type) {
	case *flow.Round:
		p.Linef("\n== Round %d of %d: %s ==", body.N, body.Of, body.Phase)
	case *debate.Turn:
		to := ""
		if body.Target != "" {
			to = " to " + body.Target
		}
		p.Linef("\n%s%s (%s)", body.Speaker, to, body.Kind)
		p.Speak("  ", body.Text)
	case *flow.Failure:
		p.Speak("  ", fmt.Sprintf("[%s gave no answer: %v]", body.By, body.Error))
	}
}
