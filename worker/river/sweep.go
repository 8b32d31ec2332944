package river

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/agonist-dev/debate/store"
)

// sweepWorker works the sweeps.
type sweepWorker struct {
	river.WorkerDefaults[sweepArgs]

	worker *Worker
}

// Work implements [river.Worker].
func (s *sweepWorker) Work(ctx context.Context, job *river.Job[sweepArgs]) error {
	err := errors.Join(s.worker.jobs.dropSweeps(ctx), s.worker.sweep(ctx, *job.AttemptedAt))
	if err != nil && ctx.Err() == nil { // the next sweep is no retry of this one
		s.worker.jobs.options.Logger.WarnContext(ctx, "river: a sweep is not complete", "error", err)
	}
	return ctx.Err()
}

// askSweep inserts a sweep, unless another worker has done so in this period. River's periodic jobs would come from its leader
// only, which may be the very worker that has disappeared.
func (w *Worker) askSweep(ctx context.Context) error {
	_, err := w.jobs.insert(ctx, sweepArgs{}, &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByPeriod: w.config.Sweep}})
	return err
}

// dropSweeps deletes the sweeps that wait: the one that begins now finds all that they would. There are many after somebody has paused
// their queue.
func (j *Jobs) dropSweeps(ctx context.Context) error {
	const most = 10_000 // of River in one call
	params := river.NewJobDeleteManyParams().Kinds(sweepArgs{}.Kind()).States(rivertype.JobStateAvailable).First(most)
	_, err := j.client.JobDeleteMany(ctx, params)
	return err
}

// sweep gives a job to each debate that has work and has none, and replaces the jobs that nobody works any more: those of
// workers that are not there, and those of debates that have work and no lease although their job was taken long ago. It
// makes jobs available whose time has come.
//
// now is the time by the database's clock.
func (w *Worker) sweep(ctx context.Context, now time.Time) error {
	w.counts.sweeps.Add(1)
	var idle []store.Info
	for info, err := range w.engine.List(ctx, store.Filter{Working: true, Idle: true}) {
		if err != nil {
			return err
		}
		idle = append(idle, info)
	}
	jobs, err := w.jobs.unfinished(ctx)
	if err != nil {
		return err
	}
	failed := errors.Join(w.rescueLost(ctx, jobs), w.promote(ctx, jobs, now))
	for _, info := range idle {
		switch job := jobs[info.ID]; {
		case job == nil:
			failed = errors.Join(failed, w.supply(ctx, info))
		case w.abandoned(job, now):
			failed = errors.Join(failed, w.rescue(ctx, job))
		}
	}
	return failed
}

// unfinished returns the unfinished jobs by the ids of their debates.
func (j *Jobs) unfinished(ctx context.Context) (map[string]*river.Job[Args], error) {
	const page = 5000
	found := make(map[string]*river.Job[Args])
	params := river.NewJobListParams().Kinds(Args{}.Kind()).States(unfinished()...).First(page).
		OrderBy(river.JobListOrderByID, river.SortOrderAsc)
	for {
		list, err := j.client.JobList(ctx, params)
		if err != nil {
			return nil, err
		}
		for _, row := range list.Jobs {
			if job, ok := decoded(row); ok {
				found[job.Args.ID] = job
			}
		}
		if len(list.Jobs) < page {
			return found, nil
		}
		params = params.After(list.LastCursor)
	}
}

// decoded returns a row as the job of a debate.
func decoded(row *rivertype.JobRow) (*river.Job[Args], bool) {
	job := &river.Job[Args]{JobRow: row}
	return job, json.Unmarshal(row.EncodedArgs, &job.Args) == nil && job.Args.ID != ""
}

// rescueLost rescues the jobs of workers that are not there.
func (w *Worker) rescueLost(ctx context.Context, jobs map[string]*river.Job[Args]) (failed error) {
	there := make(map[string]bool)
	for _, job := range jobs {
		if job.State != rivertype.JobStateRunning || len(job.AttemptedBy) == 0 {
			continue
		}
		by := job.AttemptedBy[len(job.AttemptedBy)-1]
		alive, known := there[by]
		if !known {
			var err error
			if alive, err = w.present(ctx, by); err != nil {
				return errors.Join(failed, err)
			}
			there[by] = alive
		}
		if !alive {
			failed = errors.Join(failed, w.rescue(ctx, job))
		}
	}
	return failed
}

// promote makes jobs available whose time has come. River's leader does so too, but by its own clock, which may be behind.
func (w *Worker) promote(ctx context.Context, jobs map[string]*river.Job[Args], now time.Time) (failed error) {
	for _, job := range jobs {
		if (job.State == rivertype.JobStateScheduled || job.State == rivertype.JobStateRetryable) && !job.ScheduledAt.After(now) {
			_, err := w.jobs.client.JobRetry(ctx, job.ID)
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// abandoned reports whether a job of a debate that has work and no lease was taken too long ago: it was worked, and its end
// could not be saved.
func (w *Worker) abandoned(job *river.Job[Args], now time.Time) bool {
	return job.State == rivertype.JobStateRunning && job.AttemptedAt != nil && now.Sub(*job.AttemptedAt) > w.lease+time.Minute
}

// rescue replaces a job that nobody works by one that is due. If somebody works it all the same, that harms nothing: whoever holds
// the debate's lease continues it, and the others find it leased.
func (w *Worker) rescue(ctx context.Context, job *river.Job[Args]) error {
	w.counts.rescued.Add(1)
	return w.jobs.replace(ctx, job, func(context.Context) (*river.InsertOpts, error) { return &river.InsertOpts{}, nil })
}

// supply gives a debate a job, unless it has got one meanwhile.
func (w *Worker) supply(ctx context.Context, info store.Info) error {
	route := w.jobs.route(info)
	made, err := w.jobs.insert(ctx, Args{info.ID}, &river.InsertOpts{Queue: route.Queue, Priority: route.Priority})
	if err == nil && !made.UniqueSkippedAsDuplicate {
		w.counts.supplied.Add(1)
	}
	return err
}
