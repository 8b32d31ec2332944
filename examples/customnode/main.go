// Command customnode adds a state to the flow of a deliberation: between critiquing and refining, a
// checker verifies the figures. The program holds the same deliberation with and without the node at the
// same time, and compares the refinements.
//
//	go run ./examples/customnode
//	OPENAI_API_KEY=… go run ./examples/customnode
//	OPENAI_BASE_URL=http://localhost:11434/v1 OPENAI_MODEL=… go run ./examples/customnode
//
// OPENROUTER_API_KEY and MISTRAL_API_KEY work too. Without a key, a script plays everybody.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
)

const (
	problem = "Move 40 TB of photographs to another data centre. Uploads may stop for at most an hour."
	known   = "The line between the two has 1 Gbit/s. A disk is read and written at 200 MB/s. Some 30 GB are uploaded a day."
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, stage.Printer{Out: os.Stdout}, os.Getenv)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, stage.Clean(err.Error()))
		os.Exit(1)
	}
}

func run(ctx context.Context, p stage.Printer, getenv func(string) string) error {
	plain, checked := deliberation.Flow(), deliberation.Flow() // two values: adding to one does not change the other
	_, model := stage.Choose(getenv, script())
	if err := deliberation.Insert(checked, deliberation.StateCritiquing, factChecking(model)); err != nil {
		return err
	}
	before, after := diagram(plain), diagram(checked)
	p.Linef("-- the machine without the node --")
	draw(p, before, after, "-")
	p.Linef("-- the machine with the node --")
	draw(p, after, before, "+")

	p.Linef("-- the problem --")
	p.Speak("  ", problem+" "+known)
	p.Linef("  Two deliberations are held about it, by %s.", model)
	held, err := hold(ctx, getenv, plain, checked)
	if err != nil {
		return err
	}
	compare(p, held[0], held[1])
	return nil
}

// hold holds the deliberation once for each flow, all at the same time.
func hold(ctx context.Context, getenv func(string) string, flows ...*debate.Flow) ([]*deliberation.Deliberation, error) {
	var sessions []*debate.Session
	defer func() {
		for _, session := range sessions {
			_ = session.Close()
		}
	}()
	for _, flow := range flows {
		session, err := begin(ctx, getenv, flow)
		if err != nil {
			return nil, err
		}
		sessions = append(sessions, session)
	}
	var all []*deliberation.Deliberation
	for _, session := range sessions {
		record, err := session.Wait(ctx)
		if err != nil {
			return nil, err
		}
		d, ok := deliberation.Of(record)
		if !ok {
			return nil, errors.New("the record is of no deliberation")
		}
		all = append(all, d)
	}
	return all, nil
}

func begin(ctx context.Context, getenv func(string) string, flow *debate.Flow) (*debate.Session, error) {
	engine, model := stage.Choose(getenv, script())
	engine.Flows = map[string]*debate.Flow{deliberation.FlowName: flow}
	return engine.Start(ctx, deliberation.Config{
		Problem: problem, Context: known, Rounds: 1, TurnTimeout: 10 * time.Minute,
		Agents: []deliberation.Agent{
			{ID: "ada", Role: deliberation.RoleArchitect, Model: model},
			{ID: "ben", Role: deliberation.RolePerformance, Model: model},
		},
		Judge:      deliberation.Judge{Model: model},
		Unattended: true, // no person decides what follows a failed call
	})
}

// diagram returns the lines of a flow's own part of its machine, without those that all flows share.
func diagram(f *debate.Flow) []string {
	_, own, _ := strings.Cut(f.Mermaid(), "state running {\n")
	own, _, _ = strings.Cut(own, "  }\n")
	return strings.Split(strings.TrimSuffix(own, "\n"), "\n")
}

// draw writes a diagram, and marks the lines that the other diagram does not have.
func draw(p stage.Printer, lines, other []string, mark string) {
	for _, line := range lines {
		sign := mark
		if slices.Contains(other, line) {
			sign = " "
		}
		p.Linef("%s %s", sign, line)
	}
}

// compare prints the findings, and what followed from them.
func compare(p stage.Printer, plain, checked *deliberation.Deliberation) {
	p.Linef("\n-- what the checker has found --")
	for _, c := range checked.Contributions() {
		if c.Kind == finding {
			p.Linef("  in %s's proposal:", c.Target)
			p.Speak("      ", quoted(checked, c.Target, deliberation.KindProposal))
			p.Speak("    > ", c.Text)
		}
	}
	p.Linef("\n-- what came of it --")
	for _, agent := range checked.Active() {
		p.Linef("  %s refines without the node:", agent)
		p.Speak("      ", quoted(plain, agent, deliberation.KindRefinement))
		p.Linef("  %s refines with the node:", agent)
		p.Speak("      ", quoted(checked, agent, deliberation.KindRefinement))
	}
	p.Linef("\n-- the solution without the node, for %d requests --", plain.Spent().Requests)
	p.Speak("      ", solved(plain))
	p.Linef("-- the solution with the node, for %d requests --", checked.Spent().Requests)
	p.Speak("      ", solved(checked))
}

// quoted returns the last thing that an agent said in that kind of turn.
func quoted(d *deliberation.Deliberation, agent string, kind flow.CallKind) string {
	text := "(nothing)"
	for _, c := range d.Contributions() {
		if c.Agent == agent && c.Kind == kind {
			text = c.Text
		}
	}
	return text
}

func solved(d *deliberation.Deliberation) string {
	if made, _, ok := d.Solution(); ok {
		return made.Description
	}
	return "(nothing)"
}
