package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
)

const width = 92 // characters of an argument, and of a line that a tool answers

// show prints an event. What models and tools have written is as hostile as any other text.
func show(p stage.Printer, e *debate.Event) {
	switch body := e.Body.(type) {
	case *arbiter.Decision:
		p.Linef("\narbiter: %s", strings.TrimSpace(fmt.Sprintf("%s %s", body.Move, strings.Join(body.Agents, ", "))))
		p.Speak("  ", body.Reason+body.Summary)
	case *flow.Round:
		p.Linef("\n== execution %d of at most %d ==", body.N, body.Of)
	case *flow.ToolCalls:
		for _, use := range body.Uses {
			p.Linef("%s uses %s %s", body.By, stage.Clean(use.Name), stage.Short(string(use.Arguments), width-30))
			if use.Denied != "" {
				p.Linef("  ✗ %s", stage.Short(use.Denied, width))
			}
		}
	case *flow.ToolResult:
		sign := "  │ "
		if body.Failed {
			sign = "  ✗ "
		}
		p.Quote(sign, legible(body.Text), width, 16)
	case *flow.Answer:
		if body.Option == flow.OptionDeny {
			p.Linef("  ✗ denied: %s", stage.Short(body.Text, width))
		}
	case *debate.Turn:
		report(p, body)
	case *flow.Rejection:
		p.Linef("[%s is asked again: %s]", body.By, stage.Clean(strings.Join(body.Problems, "; ")))
	case *flow.Failure:
		p.Speak("  ", fmt.Sprintf("[%s gave no answer: %v]", body.By, body.Error))
	case *flow.Warning:
		p.Speak("! ", body.Evidence)
	}
}

// times are those that a test takes.
var times = regexp.MustCompile(`\s+\(?\d+\.\d+s\)?`)

// legible returns what a tool answers without times, so that the same work always reads the same, and with spaces for tabs.
func legible(text string) string {
	return strings.ReplaceAll(times.ReplaceAllString(text, ""), "\t", "    ")
}

// report shows the result of an execution.
func report(p stage.Printer, t *debate.Turn) {
	result, ok := arbiter.ResultOf(t)
	if !ok {
		return
	}
	outcome := "has failed"
	if result.Success {
		outcome = "has succeeded"
	}
	p.Linef("%s %s:", t.Speaker, outcome)
	p.Speak("  ", result.Output)
	if result.PlanUpdates == nil {
		return
	}
	for _, step := range result.PlanUpdates.Steps {
		p.Speak("  ", fmt.Sprintf("Step %d %s: %s %s", step.Index, step.Agent, step.Status, step.Description))
	}
}

// conclude prints how the work has ended, and what it took.
func conclude(p stage.Printer, r *debate.Record) error {
	w, ok := arbiter.Of(r)
	if !ok {
		return errors.New("the record is of no arbitrated work")
	}
	p.Linef("\n== the end: %s ==", r.Reason)
	if w.Plan() != nil {
		for _, step := range w.Plan().Steps {
			p.Speak("  ", fmt.Sprintf("Step %d: %s (%s)", step.Index, step.Status, strings.Join(step.AgentsUsed, ", ")))
		}
	}
	failed := 0
	for _, use := range r.ToolUses {
		if use.Failed {
			failed++
		}
	}
	total, _ := w.Failures()
	p.Linef("There were %d executions, of which %d failed, and %d uses of tools, of which %d failed.",
		w.Iterations(), total, len(r.ToolUses), failed)
	if _, complete := w.Summary(); !complete {
		return errors.New("the task is not complete")
	}
	return nil
}

// showFiles prints the Go files that stand in a folder.
func showFiles(p stage.Printer, folder string) error {
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return err
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		p.Linef("\n== %s ==", stage.Clean(filepath.Base(name)))
		for line := range strings.Lines(strings.ReplaceAll(string(content), "\t", "    ")) {
			p.Wrap("  ", line, width)
		}
	}
	return nil
}
