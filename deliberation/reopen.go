package deliberation

import (
	"errors"
	"fmt"

	"github.com/agonist-dev/debate/flow"
)

// Concluded is a solution after which the deliberation went on; see debate.Engine.Reopen.
type Concluded struct {
	Round    int       `json:"round"` // the last one before it
	Solution *Solution `json:"solution,omitempty"`
	By       string    `json:"by,omitempty"`
}

// mostTold bounds what a note tells of a solution, in characters.
const mostTold = 4000

// reopen returns the config and the note with which a deliberation goes on after its solution; see flow.Flow.Reopen.
func reopen(r *flow.Record, o flow.Reopening) (flow.Config, flow.Note, error) {
	d := of(r)
	var f flow.Findings
	if o.Rounds < 1 {
		f.Addf("rounds", "%w", flow.WithMend(errors.New("there is no further round"), "ask for one at least"))
	}
	if o.To != "" {
		f.Addf("to", "%w", flow.WithMend(errors.New("no agent answers by itself"), "leave it out: all read the question"))
	}
	if len(f) > 0 {
		return nil, flow.Note{}, errors.Join(f...)
	}
	note := flow.Note{As: "The earlier solution", Person: o.Person}
	note.Text = fmt.Sprintf("After round %d there was no solution.", d.Round)
	if solution, _, ok := d.Solution(); ok {
		note.Text = fmt.Sprintf("After round %d the solution was:\n\n%s", d.Round, shorten(solution.Description, mostTold))
	}
	if o.Ask != "" {
		note.Text += "\n\nWhat is asked now:\n\n" + o.Ask
	}
	config := d.config.clone()
	config.ID, config.Rounds = o.ID, d.Round+o.Rounds
	if o.Budget != nil {
		config.Budget = flow.CloneValue(o.Budget)
	}
	return config, note, nil
}

// foldReopened folds that the deliberation goes on after its solution: that stands in Earlier, and is made anew.
func (d *Deliberation) foldReopened() {
	last := Concluded{Round: d.Round}
	last.Solution, last.By, _ = d.Solution()
	d.Earlier = append(d.Earlier, last)
	d.reopenedAt, d.votes, d.merges = len(d.Turns), nil, nil
}
