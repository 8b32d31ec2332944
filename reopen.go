package debate

import (
	"errors"

	"github.com/agonist-dev/debate/flow"
)

// reopen returns the config and the note with which a debate goes on after its verdict; see flow.Flow.Reopen.
func reopen(*flow.Record, flow.Reopening) (flow.Config, flow.Note, error) {
	return nil, flow.Note{}, flow.WithMend(errors.New("debates are not reopened"), "fork the debate")
}

// foldReopened folds that the debate goes on after its verdict.
func (d *Debate) foldReopened() {}
