package arbiter

import (
	"errors"
	"fmt"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
)

// mostTold bounds what a note tells of how the work has ended, in bytes.
const mostTold = 8 << 10

// reopen returns the config and the note with which work goes on that was complete; see flow.Flow.Reopen.
func reopen(r *flow.Record, o flow.Reopening) (flow.Config, flow.Note, error) {
	w := of(r)
	var f flow.Findings
	if o.Rounds < 1 {
		f.Addf("rounds", "%w", flow.WithMend(errors.New("there is no further execution"), "ask for one at least"))
	}
	if o.To != "" {
		f.Addf("to", "%w", flow.WithMend(errors.New("the arbiter decides who acts"), "leave it out"))
	}
	if len(f) > 0 {
		return nil, flow.Note{}, errors.Join(f...)
	}
	note := flow.Note{As: "The end so far", Person: o.Person}
	note.Text = fmt.Sprintf("After %s the work was not complete.", prompt.Count(len(w.executions), "execution"))
	if w.done != nil {
		note.Text = "The work was found complete:\n\n" + clipped(w.done.Summary, mostTold)
	}
	if o.Ask != "" {
		note.Text += "\n\nWhat is to be done further:\n\n" + o.Ask
	}
	config := w.config.clone()
	config.ID, config.MaxIterations = o.ID, len(w.executions)+o.Rounds
	if o.Budget != nil {
		config.Budget = flow.CloneValue(o.Budget)
	}
	return config, note, nil
}

// foldReopened folds that the work goes on: somebody is to decide anew.
func (w *Work) foldReopened() {
	w.point++
	w.ruling, w.used, w.done = nil, false, nil
}
