// Command customflow holds a conversation of a kind of its own: an interviewer asks, a candidate answers, and at the
// end a grader gives a mark as JSON. The flow of interviews knows nothing of debates. docs/guides/flow.md explains it
// step by step.
//
//	go run ./examples/customflow
//	OPENAI_API_KEY=… go run ./examples/customflow
//	OPENAI_BASE_URL=http://localhost:11434/v1 OPENAI_MODEL=… go run ./examples/customflow
//
// OPENROUTER_API_KEY and MISTRAL_API_KEY work too. Without a key, a script plays everybody.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
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

// source is a config as a host program may keep it in a file. The key "flow" names the flow.
const source = `{
	"flow": "interview", "position": "keeper of a lighthouse that is no longer lit", "questions": 2,
	"interviewer": {"name": "Iris", "model": %[1]q},
	"candidate": {"name": "Carl", "model": %[1]q},
	"grader": {"name": "Gwen", "model": %[1]q},
	"budget": {"hardCalls": 20}, "unattended": true
}`

func run(ctx context.Context, p stage.Printer, engine *debate.Engine, model string) error {
	engine.Flows = map[string]*debate.Flow{flowName: interviewFlow()}
	config, err := engine.DecodeConfig(fmt.Appendf(nil, source, model))
	if err != nil {
		return err
	}
	most, err := engine.Estimate(ctx, config)
	if err != nil {
		return err
	}
	p.Linef("An interview by %s, of at most %d calls.", model, most.Calls)
	session, err := engine.Start(ctx, config)
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	for event, err := range session.Events(ctx, 0) {
		if err != nil {
			return err
		}
		show(p, &event)
		if event.Err() != nil {
			break // it waits for the host program: Wait says why
		}
	}
	record, err := session.Wait(ctx)
	if err != nil {
		return err
	}
	return result(p, record)
}

// show prints an event.
func show(p stage.Printer, e *debate.Event) {
	switch body := e.Body.(type) {
	case *flow.Round:
		p.Linef("\n== Question %d of %d ==", body.N, body.Of)
	case *flow.Turn:
		p.Linef("\n%s", body.Speaker)
		p.Speak("  ", body.Text)
	case *flow.Rejection:
		p.Linef("\n[%s is asked again: %s]", body.By, stage.Clean(body.Problems[0]))
	case *flow.Failure:
		p.Speak("  ", fmt.Sprintf("[%s gave no answer: %v]", body.By, body.Error))
	}
}

// result prints the mark, which the flow's projection holds.
func result(p stage.Printer, r *debate.Record) error {
	i, ok := r.Projection().(*Interview)
	if !ok {
		return fmt.Errorf("the record is of flow %q", r.Flow())
	}
	if i.Grade == nil {
		p.Linef("\nThere is no mark.")
		return nil
	}
	p.Linef("\n%s gives %d of 100, hire: %t (%s)", i.Grade.Grader, i.Grade.Score, i.Grade.Hire, i.Evidence)
	p.Speak("  ", i.Grade.Why)
	return nil
}
