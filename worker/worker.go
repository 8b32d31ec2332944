// Package worker has the figures that a worker of any runtime shows to whoever monitors it. A worker of package worker/river fills
// them in, and package otel makes metrics of them; neither needs the other.
package worker

import (
	"context"
	"time"
)

// Watched is a worker that shows its figures. It is safe for concurrent use.
type Watched interface {
	// Figures returns the figures of this moment. It may ask the workers' database for those of the queue. If that fails, the error
	// says so, and Figures.Queue is zero; all else is valid.
	Figures(ctx context.Context) (Figures, error)
}

// Figures are what one worker does and has done, and what waits for all workers.
type Figures struct {
	// Now.
	Running int64 // jobs that have a place in this worker
	Held    int64 // debates that this worker has open
	Calls   int64 // calls that are being made
	Queued  int64 // calls that wait for a slot under Engine.MaxCalls

	// Since the worker was made. These only grow.
	Opened   int64 // times that a debate was opened
	Snoozed  int64 // jobs that were put off: the next call is due later, another process has the debate, or something is amiss
	Failing  int64 // of these, jobs whose debate could not be opened or continued
	Drained  int64 // unfinished debates that were left to other workers at a stop
	Rescued  int64 // jobs that were taken from workers that have disappeared
	Supplied int64 // debates that had work and no job, and were given one

	Queue Queue // the same for all workers that share it
}

// Queue is what all workers have to do.
type Queue struct {
	Waiting int64         // jobs that are due, and have no place in any worker yet
	Snoozed int64         // jobs that are due later
	Running int64         // jobs that have a place in some worker
	Oldest  time.Duration // how long the first of the waiting jobs has been due; 0: none waits
}
