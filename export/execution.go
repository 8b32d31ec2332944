package export

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
)

// Bounds of what is shown of a use of a tool, in characters. The log has all of it.
const (
	mostArguments = 2000
	mostResult    = 4000
	mostToolName  = 100
)

// ending returns the outcome of an execution in words.
func ending(o arbiter.Outcome) string {
	switch o {
	case arbiter.Success:
		return "successful"
	case arbiter.Running:
		return "under way"
	default:
		return string(o)
	}
}

// executions shows what the agents have done, in the order of their iterations.
func (w *reporter) executions(work *arbiter.Work, all []arbiter.Execution) *section {
	s := &section{ID: "executions", Title: "Executions"}
	turns := make(map[seat]*flow.Turn)
	for _, t := range w.record.Turns {
		if t.Kind == arbiter.KindExecution {
			turns[seat{t.Round, t.Speaker}] = t
		}
	}
	plan := work.Plan()
	for i := range all {
		s.Articles = append(s.Articles, w.execution(&all[i], turns[seat{all[i].Round, all[i].Agent}], plan))
	}
	s.Fold = plural(len(s.Articles), "execution")
	return s
}

// seat identifies an execution: the agents of a round differ.
type seat struct {
	round int
	agent string
}

// execution shows one execution. The turn is what its agent has reported; nil: it has reported nothing.
func (w *reporter) execution(e *arbiter.Execution, t *flow.Turn, plan *arbiter.Plan) *article {
	n := strconv.Itoa(e.Iteration)
	a := &article{
		ID: "execution-" + n, Class: "turn", Title: n + ". " + e.Agent, Tone: w.tones[e.Agent], Marks: []string{ending(e.Result)},
	}
	if e.UsedUp {
		a.Marks = append(a.Marks, "at its limit of replies")
	}
	if t != nil {
		a.Marks = append(a.Marks, notes(w.otherModel(t))...)
		a.Marks = append(a.Marks, w.circumstances(t)...)
	} else if took, ok := w.record.CallUsage(e.Call); ok && took.AtMost > 0 {
		a.Marks = append(a.Marks, unreportedMark)
	}
	a.Blocks = append(a.Blocks, block{Fields: w.effort(e, plan)})
	switch {
	case e.Forced:
		a.Blocks = append(a.Blocks, block{Text: w.forcing(e)})
	case line(e.Reason) != "":
		a.Blocks = append(a.Blocks, block{Label: "Why this agent", Speech: &e.Reason})
	}
	if e.Retries != "" {
		a.Blocks = append(a.Blocks, block{Label: "Retried because", Speech: reason(e.Retries)})
	}
	for i := range e.Uses {
		a.Blocks = append(a.Blocks, w.use(i+1, &e.Uses[i])...)
	}
	if e.Error != "" {
		a.Blocks = append(a.Blocks, block{Label: "Error", Speech: reason(e.Error)})
	}
	if t != nil && e.Output != e.Error { // an agent's own failure is its output
		a.Blocks = append(a.Blocks, block{Label: "Output", Speech: &e.Output})
	}
	if t != nil {
		if len(t.Attachments) > 0 {
			a.Blocks = append(a.Blocks, w.files(t.Attachments))
		}
		a.Blocks = append(a.Blocks, sources(t)...)
	}
	return a
}

// forcing says that the host has chosen the agent, with the reason that it has given.
func (w *reporter) forcing(e *arbiter.Execution) string {
	why := ""
	for i := range w.record.Inputs {
		in := &w.record.Inputs[i]
		if in.Trigger == arbiter.TriggerForceAgent && !in.At.After(e.StartedAt) && meant(&in.Sent) == e.Agent {
			why = brief(in.Reason)
		}
	}
	return sentence("The host has forced this agent" + prefixed(": ", why))
}

// reason returns why an execution has failed.
func reason(failure string) *string { return new(strings.TrimPrefix(failure, "debate: ")) }

// effort returns what an execution was for, and what it has taken.
func (w *reporter) effort(e *arbiter.Execution, plan *arbiter.Plan) []field {
	step := "of no plan"
	if e.Step >= 0 {
		step = stepNumber(e.Step)
		if plan != nil && e.Step < len(plan.Steps) {
			step += ": " + w.speeches.gist(plan.Steps[e.Step].Description, 300)
		}
	}
	tokens := count(e.Usage.Input) + " read"
	if e.Usage.CachedInput > 0 {
		tokens += ", " + count(e.Usage.CachedInput) + " of them cached"
	}
	var out []field
	if w.work.Config().Parallel > 1 {
		out = append(out, field{roundColumn, strconv.Itoa(e.Round)})
	}
	out = append(out, []field{{"Step", step}, {"Tokens", tokens + "; " + count(e.Usage.Output) + " written"}, {"Cost", e.Beside(e.Cost)}}...)
	if !e.StartedAt.IsZero() {
		out = append(out, field{"Began", w.clock(e.StartedAt)})
	}
	if took := span(e.StartedAt, e.EndedAt); took != "" {
		out = append(out, field{"Duration", took})
	}
	return out
}

// span writes the time between two moments; "": one of them is not known.
func span(from, to time.Time) string {
	if from.IsZero() || to.IsZero() {
		return ""
	}
	return duration(to.Sub(from))
}

// use shows a use of a tool: what was asked for, what became of it, and what the model has read as the result.
func (w *reporter) use(n int, u *flow.UsedTool) []block {
	out := []block{
		{Label: fmt.Sprintf("Use of a tool, %d: %s", n, short(line(u.Tool), mostToolName)), Text: w.used(u)},
		{Code: bounded(string(u.Arguments), mostArguments)},
	}
	if u.Text != "" {
		out = append(out, block{Text: "Result:"}, block{Code: bounded(u.Text, mostResult)})
	}
	return out
}

// used says in a sentence what became of a use.
func (w *reporter) used(u *flow.UsedTool) string {
	var out string
	switch {
	case u.Unknown:
		out = "Nobody knows whether it took effect."
	case u.Denied:
		out = "It was not used."
	case u.Pending && w.record.Final():
		out = "The work has ended before there was a result."
	case u.Pending:
		out = "There is no result yet."
	case u.Failed:
		out = "It has failed."
	default:
		out = "It has succeeded."
	}
	if u.Attempts > 1 {
		out += " There were " + plural(u.Attempts, "attempt") + "."
	}
	if took := span(u.BeganAt, u.EndedAt); took != "" && u.EndedAt.After(u.BeganAt) && !u.Pending {
		out += " It took " + took + "."
	}
	if u.Cut {
		out += " The model has read the beginning of the result."
	}
	return out
}

// bounded returns a text of at most that many characters, which says how much is left out.
func bounded(text string, most int) *string {
	cut := short(text, most)
	if left := len(text) - len(cut) + len("…"); len(cut) < len(text) && left > 0 {
		cut += fmt.Sprintf("\n[%s more]", plural(left, "byte"))
	}
	return &cut
}
