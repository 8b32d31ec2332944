package river

import (
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// Args are the arguments of a debate's job: its id, and nothing else. All else is in the debate's log.
type Args struct {
	ID string `json:"id" river:"unique"`
}

// Kind implements [river.JobArgs].
func (Args) Kind() string { return "debate" }

// maxAttempts is the most that River's table can hold. Only a panic uses up an attempt; all other endings replace the job.
const maxAttempts = 1<<15 - 1

// InsertOpts implements [river.JobArgsWithInsertOpts]: a debate has one job that is not finished.
func (Args) InsertOpts() river.InsertOpts {
	return river.InsertOpts{
		MaxAttempts: maxAttempts,
		Queue:       DefaultQueue,
		UniqueOpts:  river.UniqueOpts{ByArgs: true, ByState: unfinished()},
	}
}

// unfinished are the states of a job that is still to be worked, or is being worked.
func unfinished() []rivertype.JobState {
	return []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning,
		rivertype.JobStateScheduled,
	}
}

// sweepArgs are the arguments of the job that looks for debates without a job.
type sweepArgs struct{}

// Kind implements [river.JobArgs].
func (sweepArgs) Kind() string { return "debate_sweep" }

// InsertOpts implements [river.JobArgsWithInsertOpts]: sweeps wait behind no debate.
func (sweepArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: sweepQueue} }
