package export

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
)

// arbiterName is the name under which the log has the arbiter.
const arbiterName = "arbiter"

// worked shows what is arbitrated work's own: its task, how far it is, the plan, who works on it, what they have done, and why.
func (w *reporter) worked(work *arbiter.Work) *told {
	executions := work.Executions()
	return &told{
		answer: []*section{w.workOutcome(work, executions)}, who: []*section{w.workers(work, executions)},
		material: []*section{{ID: "task", Title: "Task", Blocks: []block{spoken(work.Config().Task)}}, w.documents()},
		rounds:   []*section{w.plan(work), w.executions(work, executions)}, besides: []*section{w.decisions(work), w.inputs()},
	}
}

// workFacts describes the work.
func (w *reporter) workFacts(work *arbiter.Work) []field {
	c := work.Config()
	out := []field{{"Arbiter", decider(&c.Arbiter)}}
	if c.Parallel > 1 {
		out = append(out, field{"At once", plural(c.Parallel, "agent") + " at most"})
	}
	if _, complete := work.Summary(); !complete {
		out = append(out, present(field{"Why it ended", w.speeches.gist(w.record.Evidence, 300)})...)
	}
	return out
}

// mostExecutions is how many executions there may be.
func (w *reporter) mostExecutions(work *arbiter.Work) int {
	if settings := w.record.Settings(); settings != nil {
		return settings.Rounds
	}
	return work.Config().MaxIterations
}

// decider returns who decides.
func decider(a *arbiter.Arbiter) string { return performer(a.Model, a.Function, a.Person) }

// workOutcome shows whether the task is complete, and what was done, or why it is not.
func (w *reporter) workOutcome(work *arbiter.Work, executions []arbiter.Execution) *section {
	summary, complete := work.Summary()
	s := &section{ID: "outcome", Title: "Outcome", Blocks: []block{{Headline: w.completion(complete)}}}
	if complete {
		s.Blocks = append(s.Blocks, spoken(summary))
	}
	ended := make(map[arbiter.Outcome]int)
	for i := range executions {
		ended[executions[i].Result]++
	}
	var counts []string
	for _, o := range []arbiter.Outcome{arbiter.Success, arbiter.Failed, arbiter.Cancelled, arbiter.Running} {
		if ended[o] > 0 {
			counts = append(counts, count(ended[o])+" "+ending(o))
		}
	}
	total, row := work.Failures()
	failures := count(total)
	if row > 0 {
		failures += ", the last " + count(row) + " in a row"
	}
	s.Blocks = append(s.Blocks, block{Fields: []field{
		{"Executions", cmp.Or(strings.Join(counts, ", "), "none")},
		{"Failures", failures},
		{"Decisions", count(len(work.Decisions()))},
	}})
	s.Blocks = append(s.Blocks, degraded(work.Degraded())...)
	return s
}

// completion says in a sentence whether the task is complete.
func (w *reporter) completion(complete bool) string {
	r := w.record
	switch {
	case complete:
		return "The task is complete."
	case r.State == flow.StateError:
		return "The task is not complete: the work has stopped with an error."
	case !r.Final():
		return "The task is not complete yet."
	case r.State == flow.StateCanceled:
		return "The task is not complete: the work was canceled."
	case r.Reason == arbiter.EndIterations:
		return "The task is not complete: all executions are used."
	default:
		return "The task is not complete: the arbiter has not declared it so."
	}
}

// plan shows the steps of the plan, with who is to do them and who has worked on them.
func (w *reporter) plan(work *arbiter.Work) *section {
	s := &section{ID: "plan", Title: "Plan"}
	p := work.Plan()
	if p == nil {
		return s
	}
	standing := fmt.Sprintf("%d of %s left.", p.Left(), plural(len(p.Steps), "step"))
	switch at := p.CurrentStepIndex; {
	case p.IsComplete:
		standing += " The agents have declared the plan complete."
	case at >= 0 && at < len(p.Steps):
		standing += " The current step is " + stepNumber(at) + "."
	}
	t := &table{Head: []string{"Step", "What", "Status", "For", "Worked on by"}, Figures: 5}
	for i := range p.Steps {
		step := &p.Steps[i]
		t.Rows = append(t.Rows, cells(
			stepNumber(step.Index), step.Description, strings.ReplaceAll(string(step.Status), "_", " "), step.Agent,
			strings.Join(step.AgentsUsed, ", "),
		))
	}
	s.Blocks = []block{{Text: standing}, {Table: t}}
	return s
}

// stepNumber is the number of a step as people count, and as the commands of the program take it: from 1.
func stepNumber(index int) string { return strconv.Itoa(index + 1) }

// workers lists the agents and the arbiter, with their models and tools.
func (w *reporter) workers(work *arbiter.Work, executions []arbiter.Execution) *section {
	c := work.Config()
	s := &section{ID: "agents", Title: "Agents"}
	times := make(map[string]int)
	for i := range executions {
		times[executions[i].Agent]++
	}
	for i := range c.Agents {
		a := &c.Agents[i]
		fields := append([]field{
			{"Good at", a.Description},
			{"Tools", cmp.Or(strings.Join(a.Tools, ", "), "none")},
			{"Replies", "at most " + count(a.MaxIterations) + " of an execution"},
		}, w.metadata(a.Name)...)
		did := plural(times[a.Name], "execution")
		s.Articles = append(s.Articles, w.card(a.Name, a.Model, a.Fallbacks, did, block{Fields: present(fields...)}))
	}
	decisions := plural(len(work.Decisions()), "decision")
	s.Articles = append(s.Articles, w.card(arbiterName, decider(&c.Arbiter), c.Arbiter.Fallbacks, decisions))
	return s
}

// decisions shows what the arbiter has decided, oldest first.
func (w *reporter) decisions(work *arbiter.Work) *section {
	s := &section{ID: "decisions", Title: "Decisions"}
	for i, d := range work.Decisions() {
		what := string(d.Move)
		if len(d.Agents) > 0 {
			what += " " + strings.Join(d.Agents, ", ")
		}
		a := &article{
			ID: "decision-" + strconv.Itoa(i+1), Class: classAssessment, Title: strconv.Itoa(i+1) + ". " + what,
			Marks:  notes("while "+string(d.State), prefixed("by ", otherThan(work.Config().Arbiter.Model, d.Model)), d.Unsettled().Short(d.Cost)),
			Blocks: []block{spoken(d.Reason)},
		}
		if took, ok := w.record.CallUsage(d.Call); ok && !took.EndedAt.IsZero() {
			a.Marks = append(a.Marks, w.clock(took.EndedAt))
		}
		if d.Move == arbiter.MoveComplete {
			a.Blocks = append(a.Blocks, block{Label: "Summary", Speech: &d.Summary})
		}
		s.Articles = append(s.Articles, a)
	}
	s.Fold = plural(len(s.Articles), "decision")
	return s
}

// otherThan returns a model if it is not the expected one.
func otherThan(expected, model string) string {
	if model == expected {
		return ""
	}
	return model
}

// inputs lists what the host program has sent, with its reasons.
func (w *reporter) inputs() *section {
	s := &section{ID: "inputs", Title: "Inputs of the host"}
	t := &table{Head: []string{"When", "Input", "What", whyColumn, "While"}, Figures: 5}
	for i := range w.record.Inputs {
		in := &w.record.Inputs[i]
		t.Rows = append(t.Rows, cells(w.clock(in.At), string(in.Trigger), meant(&in.Sent), brief(in.Reason), string(in.State)))
	}
	if len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, block{Table: t})
	}
	return s
}

// meant returns what an input is about. One that says nothing readable is shown as it is: a log may hold anything.
func meant(in *flow.Sent) string {
	switch in.Trigger {
	case arbiter.TriggerForceAgent:
		var p arbiter.ForceAgent
		if json.Unmarshal(in.Payload, &p) == nil && p.Agent != "" {
			return p.Agent
		}
	case arbiter.TriggerSkipStep:
		var p arbiter.SkipStep
		if len(in.Payload) == 0 || json.Unmarshal(in.Payload, &p) == nil {
			if p.Step == nil {
				return "the current step"
			}
			return "step " + stepNumber(*p.Step)
		}
	case arbiter.TriggerRerunStep:
		var p arbiter.RerunStep
		if json.Unmarshal(in.Payload, &p) == nil {
			return "step " + stepNumber(p.Step)
		}
	}
	return brief(string(in.Payload))
}
