package river

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/worker"
)

var _ worker.Watched = (*Worker)(nil)

// Figures returns what this worker does and has done, and the length of the queue, for which it asks the database once.
func (w *Worker) Figures(ctx context.Context) (worker.Figures, error) {
	s, calls := w.Stats(), w.engine.Stats()
	queue, err := w.jobs.Queue(ctx)
	return worker.Figures{
		Running: s.Running, Held: s.Held, Calls: calls.Calls, Queued: calls.Queued,
		Opened: s.Opened, Snoozed: s.Far + s.Leased + s.Lacking + s.Failed, Failing: s.Lacking + s.Failed, Drained: s.Drained,
		Rescued: s.Rescued, Supplied: s.Supplied,
		Queue: queue,
	}, err
}

// Queue returns how many jobs of debates wait, of all queues. It is one statement on the index of jobs by state. The error is of
// kind store.
func (j *Jobs) Queue(ctx context.Context) (worker.Queue, error) {
	queue, err := j.queue(ctx)
	if err != nil {
		return worker.Queue{}, &flow.Error{Kind: provider.KindStore, Op: op, Err: fmt.Errorf("the length of the queue: %w", err)}
	}
	return queue, nil
}

func (j *Jobs) queue(ctx context.Context) (queue worker.Queue, err error) {
	age := "EXTRACT(EPOCH FROM now() - min(scheduled_at))"
	if j.driver.DatabaseName() == riverdriver.DatabaseNameSQLite {
		age = "86400 * (julianday('now') - julianday(min(scheduled_at)))"
	}
	rows, err := j.db.QueryContext(ctx, "SELECT state, count(*), CAST("+age+" AS double precision) FROM "+j.table()+ //nolint:gosec // no input
		" WHERE state IN ('available', 'pending', 'retryable', 'running', 'scheduled') AND kind = '"+Args{}.Kind()+"' GROUP BY state")
	if err != nil {
		return queue, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var state rivertype.JobState
		var jobs int64
		var seconds float64
		if err := rows.Scan(&state, &jobs, &seconds); err != nil {
			return queue, err
		}
		switch state {
		case rivertype.JobStateAvailable:
			queue.Waiting, queue.Oldest = jobs, max(0, time.Duration(seconds*float64(time.Second)))
		case rivertype.JobStateRunning:
			queue.Running = jobs
		default:
			queue.Snoozed += jobs
		}
	}
	return queue, rows.Err()
}

// table is the name of River's table of jobs.
func (j *Jobs) table() string {
	if j.options.Schema == "" {
		return "river_job"
	}
	return `"` + strings.ReplaceAll(j.options.Schema, `"`, `""`) + `".river_job`
}
