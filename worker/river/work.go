package river

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/store"
)

// debateWorker works the jobs of debates.
type debateWorker struct {
	river.WorkerDefaults[Args]

	worker *Worker
}

// Timeout implements [river.Worker]: a job lasts as long as its debate has work. The rescuers of workers let such jobs be. Those of
// other programs on River's tables find them young (renewJobs). The sweep knows which of them are stuck.
func (*debateWorker) Timeout(*river.Job[Args]) time.Duration { return -1 }

// NextRetry implements [river.Worker]. It is asked after a panic only.
func (d *debateWorker) NextRetry(job *river.Job[Args]) time.Time {
	return time.Now().Add(backOff(job.Attempt))
}

// Work implements [river.Worker]: it opens the debate, and closes it when no process needs to work on it.
func (d *debateWorker) Work(ctx context.Context, job *river.Job[Args]) error {
	turn := &turn{worker: d.worker, job: job, began: time.Now()}
	d.worker.counts.running.Add(1)
	defer d.worker.counts.running.Add(-1)
	d.worker.worked.Store(job.ID, true)
	defer d.worker.worked.Delete(job.ID)
	if d.worker.places != nil {
		defer d.worker.places.leave(job.Queue)
	}
	return turn.work(ctx)
}

// turn is one job in this worker.
type turn struct {
	worker *Worker
	job    *river.Job[Args]
	began  time.Time
}

// now returns the time by the database's clock: it has set AttemptedAt when the job was taken. The clock of this process may
// be off by any amount.
func (t *turn) now() time.Time { return t.job.AttemptedAt.Add(time.Since(t.began)) }

func (t *turn) work(ctx context.Context) error {
	w, id := t.worker, t.job.Args.ID
	if err := store.CheckID(id); err != nil {
		w.counts.missing.Add(1)
		return river.JobCancel(err)
	}
	s, err := w.engine.Open(ctx, id)
	if err != nil {
		return t.failed(ctx, err)
	}
	w.lacks.Store(0)
	w.counts.opened.Add(1)
	next, err := t.hold(ctx, s)
	if err != nil {
		return t.failed(ctx, err)
	}
	end := ending{after: next.Seq, rests: true}
	if next.Wait > 0 {
		end.next = &river.InsertOpts{ScheduledAt: t.now().Add(next.Wait)}
	}
	if !next.Idle {
		w.counts.far.Add(1)
	}
	return t.end(ctx, end)
}

// hold lets a session work until its debate rests or its next call is far, and closes the session.
func (t *turn) hold(ctx context.Context, s *debate.Session) (flow.Next, error) {
	t.worker.counts.held.Add(1)
	defer t.worker.counts.held.Add(-1)
	next, err := s.Rest(ctx, t.worker.config.Far)
	if err != nil {
		_ = s.Close()
	}
	return next, err
}

// failed ends a job whose debate this worker cannot work on, or not any more.
func (t *turn) failed(ctx context.Context, err error) error {
	w := t.worker
	switch {
	case ctx.Err() != nil: // River is being stopped at once: it makes the job available
		return ctx.Err()
	case errors.Is(err, flow.ErrNotFound):
		w.counts.missing.Add(1)
		return river.JobCancel(err)
	case errors.Is(err, flow.ErrClosed): // this worker drains
		w.counts.drained.Add(1)
		return t.end(ctx, ending{next: &river.InsertOpts{}})
	case errors.Is(err, flow.ErrLeased):
		w.counts.leased.Add(1)
		return t.end(ctx, ending{next: &river.InsertOpts{ScheduledAt: t.now().Add(w.lease)}})
	case errors.Is(err, flow.ErrMissing): // others may have it: they get the job at once, at first
		w.counts.lacking.Add(1)
		defer w.holdBack(ctx)
		return t.backOff(ctx, err, lackingFree, time.Minute)
	default:
		w.counts.failed.Add(1)
		return t.backOff(ctx, err, 0, 10*time.Minute)
	}
}

// lackingFree is how many workers may find that they lack something before the debate goes into back-off.
const lackingFree = 3

// backOff puts a debate off after a failure, for at most so long. The first free failures in a row cost no time.
func (t *turn) backOff(ctx context.Context, failure error, free int, most time.Duration) error {
	again := t.trouble()
	again.Failures++
	again.Error = text.OneLine(failure.Error(), 500)
	next := &river.InsertOpts{Tags: []string{FailingTag}}
	var wait time.Duration
	if again.Failures > free {
		wait = min(backOff(again.Failures-free), most)
		next.ScheduledAt = t.now().Add(wait)
	}
	t.worker.jobs.options.Logger.LogAttrs(ctx, slog.LevelWarn, "debate in back-off", slog.String("id", t.job.Args.ID),
		slog.Int("failures", again.Failures), slog.Duration("wait", wait), slog.String("error", again.Error))
	metadata, err := json.Marshal(again)
	if err != nil {
		return err
	}
	next.Metadata = metadata
	return t.end(ctx, ending{next: next})
}

// FailingTag is the tag of jobs in back-off: the debate could not be opened, or its session has failed.
const FailingTag = "debate-failing"

// Trouble is in the metadata of a job in back-off.
type Trouble struct {
	Failures int    `json:"debateFailures"`        // in a row
	Error    string `json:"debateError,omitempty"` // the last, in one line of at most 500 bytes
}

// trouble returns what is known of earlier failures.
func (t *turn) trouble() (known Trouble) {
	if err := json.Unmarshal(t.job.Metadata, &known); err != nil {
		return Trouble{}
	}
	return known
}

// backOff is how long a debate waits after n failures in a row.
func backOff(n int) time.Duration {
	return min(time.Second<<min(max(n-1, 0), 20), 10*time.Minute)
}

// holdBack keeps the place of a job that this worker cannot serve, so that a worker without a key does not pass all jobs through
// its free places. The job is with the others by then.
func (w *Worker) holdBack(ctx context.Context) {
	timer := time.NewTimer(min(backOff(int(w.lacks.Add(1)))/4, time.Minute))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.stopping:
	case <-ctx.Done():
	}
}

// String names the job.
func (t *turn) String() string { return fmt.Sprintf("job %d of debate %s", t.job.ID, t.job.Args.ID) }
