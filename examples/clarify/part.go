package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
)

const problem = "Give the readers of our local paper a way to comment on articles."

// newEngine returns the engine of both processes. The debate itself comes only from the store.
func newEngine(store debate.Store) (engine *debate.Engine, model string) {
	engine, model = stage.Choose(os.Getenv, script())
	engine.Store = store
	engine.Flows = map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow()}
	return engine, model
}

// ask starts the debate and lets the agents ask. As soon as the debate waits for a person, the process
// releases it: a debate that waits is only in the store, and costs nothing.
func ask(ctx context.Context, p stage.Printer, store debate.Store) error {
	engine, model := newEngine(store)
	session, err := engine.Start(ctx, deliberation.Config{
		ID: id, Problem: problem, Rounds: 1, TurnTimeout: 10 * time.Minute,
		Agents: []deliberation.Agent{
			{ID: "ada", Role: deliberation.RoleArchitect, Model: model},
			{ID: "ben", Role: deliberation.RoleSecurity, Model: model},
		},
		Judge:         deliberation.Judge{Model: model},
		Clarification: deliberation.Clarification{On: true, Questions: 2},
	})
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	p.Linef("The problem: %s", problem)
	for event, err := range session.Events(ctx, 0) {
		if err != nil {
			return err
		}
		switch body := event.Body.(type) {
		case *debate.Turn:
			if body.Kind == deliberation.KindQuestion {
				p.Linef("  %s has thought about what to ask.", body.Speaker)
			}
		case *flow.Round:
			return nil // nobody has a question
		case *flow.Transition:
			if body.To == flow.StateAwaitingInput {
				return nil // questions are open
			}
			if body.To == flow.StateError {
				_, err := session.Wait(ctx)
				return err
			}
		}
	}
	return nil
}

// answer finds the debate in the store, answers the open questions, and continues to the solution.
func answer(ctx context.Context, p stage.Printer, in io.Reader, store debate.Store, terminal bool) error {
	engine, _ := newEngine(store)
	var prepared map[string]string // answers to the questions of the script
	if _, demo := engine.Providers["script"]; demo {
		prepared = stage.Speeches(play)
	}
	person := knowing(p, prepared)
	if terminal {
		person = typing(p, in)
	}
	asked := func(inquiry flow.Inquiry) (string, error) {
		if len(inquiry.Options) > 0 {
			return "", errors.New(inquiry.Question) // not a question of an agent: a call has failed for good
		}
		p.Speak("  ", inquiry.Question)
		return person(inquiry.ID)
	}
	record, err := engine.Record(ctx, id)
	if err != nil {
		return err
	}
	for _, inquiry := range record.Inquiries { // the debate is idle: the answers go into its log
		text, err := asked(inquiry)
		if err == nil {
			err = engine.Control(ctx, id, flow.Answer{Inquiry: inquiry.ID, Text: text})
		}
		if err != nil {
			return err
		}
	}
	session, err := engine.Open(ctx, id)
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	for event, err := range session.Events(ctx, record.Seq) {
		switch {
		case err != nil:
			return err
		case event.Err() != nil && !errors.Is(event.Err(), debate.ErrAwaitingInput):
			_, err := session.Wait(ctx)
			return err
		}
		inquiry, ok := event.Body.(*flow.Inquiry)
		if !ok {
			show(p, &event)
			continue
		}
		p.Linef("-- the answers were read, and there is one more question --")
		text, err := asked(*inquiry)
		if err == nil {
			err = session.Answer(ctx, flow.Answer{Inquiry: inquiry.ID, Text: text})
		}
		if err != nil {
			return err
		}
	}
	record, err = session.Wait(ctx)
	if err != nil {
		return err
	}
	return conclude(p, record)
}

// show prints the events of the rounds.
func show(p stage.Printer, e *debate.Event) {
	switch body := e.Body.(type) {
	case *flow.Round:
		p.Linef("-- everything is clear: round %d of %d --", body.N, body.Of)
	case *flow.Warning:
		p.Speak("  ! ", body.Evidence)
	case *debate.Turn:
		switch body.Kind {
		case deliberation.KindCritique:
			p.Linef("  %s, critique of %s:", body.Speaker, body.Target)
			p.Speak("    ", body.Text)
		case deliberation.KindProposal, deliberation.KindRefinement:
			p.Linef("  %s, %s:", body.Speaker, body.Kind)
			p.Speak("    ", body.Text)
		}
	}
}

// conclude prints the questions and answers from the record, and the solution.
func conclude(p stage.Printer, r *debate.Record) error {
	d, ok := deliberation.Of(r)
	if !ok {
		return errors.New("the record is of no deliberation")
	}
	made, by, ok := d.Solution()
	if !ok {
		return errors.New("the debate has ended without a solution")
	}
	p.Linef("-- the solution, by %s; its confidence is %g of 100 --", by, made.Confidence)
	p.Speak("  ", made.Description)
	for _, question := range made.OpenQuestions {
		p.Speak("  Open: ", question)
	}
	asked := d.Clarifications()
	open := 0
	for _, one := range asked {
		if one.Skipped {
			open++
		}
	}
	p.Linef("-- questions: %d, left open: %d --", len(asked), open)
	return nil
}

// knowing answers the inquiries for which an answer is prepared, and leaves the others open.
func knowing(p stage.Printer, prepared map[string]string) func(inquiry string) (string, error) {
	return func(inquiry string) (string, error) {
		text := cmp.Or(prepared[inquiry], deliberation.NotAnswered)
		p.Speak("    > ", text)
		return text, nil
	}
}

// typing asks a person at a terminal.
func typing(p stage.Printer, in io.Reader) func(inquiry string) (string, error) {
	lines := bufio.NewScanner(in)
	return func(string) (string, error) {
		_, _ = io.WriteString(p.Out, "    (an empty line leaves it open) > ")
		if !lines.Scan() {
			return "", errors.Join(lines.Err(), errors.New("nobody answers any more: the debate waits in its folder"))
		}
		return cmp.Or(strings.TrimSpace(lines.Text()), deliberation.NotAnswered), nil
	}
}
