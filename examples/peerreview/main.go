// Command peerreview reviews a paper: an author writes, reviewers review at once, an editor decides. docs/guides/flow.md
// says how flows are written. With a key that stage.Choose knows, models take part. Without one a script plays everybody.
//
//	go run ./examples/peerreview
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
)

const source = `{
	"flow": "review", "subject": "Why the stairs of old towers turn clockwise", "unattended": true,
	"author": {"name": "Ada", "model": %[1]q}, "editor": {"name": "Eve", "model": %[1]q},
	"reviewers": [{"name": "Rolf", "model": %[1]q}, {"name": "Ruth", "model": %[1]q}]
}`

func main() {
	engine, model := stage.Choose(os.Getenv, script())
	if err := run(context.Background(), stage.Printer{Out: os.Stdout}, engine, model); err != nil {
		log.Fatal(stage.Clean(err.Error()))
	}
}

func run(ctx context.Context, p stage.Printer, engine *debate.Engine, model string) error {
	engine.Flows = map[string]*debate.Flow{flowName: reviewFlow()}
	config, err := engine.DecodeConfig(fmt.Appendf(nil, source, model))
	if err != nil {
		return err
	}
	for event, err := range engine.Run(ctx, config) {
		if err != nil {
			return err
		}
		if turn, ok := event.Body.(*flow.Turn); ok {
			p.Linef("\n%s, round %d: %s", turn.Speaker, turn.Round, turn.Kind)
			p.Speak("  ", turn.Text)
		}
	}
	return nil
}
