// Command agenttools gives the agents of a deliberation tools: they list a folder, read its files, search
// in the files and in the debate, and compute with a tool of this program. The program shows each use as
// it happens, with the answer or the refusal.
//
//	go run ./examples/agenttools
//	OPENAI_API_KEY=… go run ./examples/agenttools
//	OPENAI_API_KEY=… go run ./examples/agenttools -dir docs -problem "What is missing in these documents?"
//
// OPENROUTER_API_KEY and MISTRAL_API_KEY work too. OPENAI_BASE_URL with OPENAI_MODEL selects your own
// server. Without a key, a script plays everybody, and the tools are still used. With a key, the content
// of the folder is sent to the model's vendor.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/tool"
)

const demoProblem = "Our checkout has broken its promise twice this year. What do we change first? The folder holds what is known."

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, stage.Printer{Out: os.Stdout}, os.Args[1:], os.Getenv)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, stage.Clean(err.Error()))
		os.Exit(1)
	}
}

func run(ctx context.Context, p stage.Printer, args []string, getenv func(string) string) error {
	flags := flag.NewFlagSet("agenttools", flag.ContinueOnError)
	folder := flags.String("dir", "", "the folder that the agents may read; the example's own if empty")
	problem := flags.String("problem", demoProblem, "what a solution is wanted for")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	engine, model := stage.Choose(getenv, script())
	if _, demo := engine.Providers["script"]; demo && len(args) > 0 {
		return errors.New("without a key a script plays, which knows only its own folder and problem")
	}
	if *folder == "" {
		unpacked, remove, err := unpack()
		if err != nil {
			return err
		}
		defer remove()
		*folder = unpacked
	}
	dir, err := tool.OpenDir(*folder, tool.Limits{})
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // when nothing of the debate is running any more
	if engine.Tools, err = toolbox(dir); err != nil {
		return err
	}
	return deliberate(ctx, p, engine, *problem, model)
}

func deliberate(ctx context.Context, p stage.Printer, engine *debate.Engine, problem, model string) error {
	engine.Flows = map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow()}
	config := deliberation.Config{
		ID: "agenttools", Problem: problem, Rounds: 1, TurnTimeout: 10 * time.Minute,
		Agents: []deliberation.Agent{
			{ID: "ada", Role: deliberation.RoleArchitect, Model: model},
			{ID: "ben", Role: deliberation.RolePerformance, Model: model},
		},
		Judge:     deliberation.Judge{Model: model},
		Tools:     slices.Sorted(maps.Keys(engine.Tools)), // a single agent can get fewer
		ToolCalls: 6,                                      // by each agent in each phase
	}
	if err := engine.Validate(ctx, config); err != nil {
		return err
	}
	p.Speak("", problem)
	p.Linef("Two agents, played by %s, may use %s.", model, strings.Join(config.Tools, ", "))
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
	return conclude(p, record)
}

// show prints an event. Arguments and answers are as hostile as any other text.
func show(p stage.Printer, e *debate.Event) {
	switch body := e.Body.(type) {
	case *flow.Transition:
		if body.Calls > 0 && body.To != flow.StateCompleting {
			p.Linef("\n== %s ==", body.To)
		}
	case *flow.ToolCalls:
		for _, use := range body.Uses {
			p.Linef("%s uses %s %s", body.By, stage.Clean(use.Name), stage.Short(string(use.Arguments), 70))
			if use.Denied != "" {
				p.Linef("  %s ✗ %s", body.By, stage.Short(use.Denied, 88))
			}
		}
	case *flow.ToolResult:
		answer(p, body)
	case *flow.Warning:
		p.Speak("! ", body.Evidence)
	case *debate.Turn:
		contribute(p, body)
	}
}

// contribute shows a contribution. The solution is shown at the end.
func contribute(p stage.Printer, t *debate.Turn) {
	switch {
	case t.Kind == deliberation.KindSynthesis:
		return
	case t.Target != "":
		p.Linef("%s, %s of %s:", t.Speaker, t.Kind, t.Target)
	default:
		p.Linef("%s, %s:", t.Speaker, t.Kind)
	}
	p.Speak("  ", t.Text)
}

// answer prints the beginning of a tool's answer, and who asked for it.
func answer(p stage.Printer, a *flow.ToolResult) {
	sign := "│"
	if a.Failed {
		sign = "✗"
	}
	p.Quote(fmt.Sprintf("  %s %s ", a.By, sign), a.Text, 88, 6)
}

// conclude prints the solution, and what it took.
func conclude(p stage.Printer, r *debate.Record) error {
	d, ok := deliberation.Of(r)
	if !ok {
		return errors.New("the record is of no deliberation")
	}
	made, by, ok := d.Solution()
	if !ok {
		return errors.New("the deliberation has ended without a solution")
	}
	p.Linef("\n== the solution, by %s ==", by)
	p.Speak("  ", made.Description)

	uses, failed := make(map[string]int), 0
	for _, use := range r.ToolUses {
		uses[use.Tool]++
		if use.Failed {
			failed++
		}
	}
	var counts []string
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		counts = append(counts, fmt.Sprintf("%s %d", name, uses[name]))
	}
	p.Linef("\nTools were used %d times, %d in vain: %s.", len(r.ToolUses), failed, strings.Join(counts, ", "))
	p.Linef("For all of it models were sent %d requests, and so %d tokens.", r.Spent().Requests, r.Spent().Usage.Input)
	return nil
}
