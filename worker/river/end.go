package river

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/agonist-dev/debate/flow"
)

// ending is what becomes of a job.
type ending struct {
	rests bool              // the debate needs no process, as of event number after
	after int64             //
	next  *river.InsertOpts // of the job that follows; nil: none does
}

// end ends a job, and gives the debate the next one, in one transaction.
//
// If the debate rests, nothing may be appended unnoticed. The transaction first marks the job as finished, which locks its
// row, and then looks at the end of the log. An append that gives the debate work asks for a job in its own transaction
// (Jobs.OnWake). Either that comes first: then its events are in the log. Or it waits for the row, and finds no unfinished job.
//
// As long as the database fails, end tries again: nobody else ends this job while its worker is there. The error is that of ctx.
func (t *turn) end(ctx context.Context, e ending) error {
	const first, most = 10 * time.Millisecond, time.Second
	for wait := first; ; wait = min(2*wait, most) {
		err := t.worker.jobs.replace(ctx, t.job, func(ctx context.Context) (*river.InsertOpts, error) {
			if grown, err := t.grown(ctx, e); grown || err != nil {
				t.worker.counts.again.Add(1)
				return &river.InsertOpts{}, err
			}
			return e.next, nil
		})
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		t.worker.jobs.options.Logger.WarnContext(ctx, "river: a job cannot be ended yet", "job", t.String(), "error", err)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// grown reports whether the log of a debate that rests has grown.
func (t *turn) grown(ctx context.Context, e ending) (bool, error) {
	if !e.rests {
		return false, nil
	}
	for _, err := range t.worker.engine.Store.Read(ctx, t.job.Args.ID, e.after) {
		if errors.Is(err, flow.ErrNotFound) {
			return false, nil // it was deleted
		}
		return err == nil, err
	}
	return false, nil
}

// replace finishes a job that is running and inserts the one that follows it, as then decides within the transaction; nil:
// none does. ctx is that of a job that this process works.
func (j *Jobs) replace(ctx context.Context, job *river.Job[Args], then func(context.Context) (*river.InsertOpts, error)) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	tx, err := j.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	switch _, err := river.JobCompleteTx[Driver](ctx, tx, job); {
	case errors.Is(err, rivertype.ErrNotFound): // somebody has deleted it
	case err != nil:
		return err
	}
	next, err := then(ctx)
	if err != nil {
		return err
	}
	if next != nil {
		if err := j.follow(ctx, tx, job, *next); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// follow inserts a job in the place of another.
func (j *Jobs) follow(ctx context.Context, tx *sql.Tx, job *river.Job[Args], next river.InsertOpts) error {
	next.Queue, next.Priority = job.Queue, job.Priority
	if _, err := j.insertTx(ctx, tx, job.Args, &next); err != nil {
		return fmt.Errorf("the next job: %w", err)
	}
	return nil
}
