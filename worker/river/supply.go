package river

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/agonist-dev/debate/store"
)

// supplyPage bounds the debates of a look: the next one continues there. For supplyLost a job that nobody works may be about to end.
const supplyPage, supplyLost = 5000, 500 * time.Millisecond

// supplyFailed is the number of failures from which a job is not claimed, and waits out its back-off.
const supplyFailed = 100

// supply sees to it that each debate which needs a process has a job that is worked. What several workers do at once is done once. It looks
// when the store announces work, and six times in the time of a lease.
func (w *Worker[T]) supply(ctx context.Context) {
	var announced <-chan struct{}
	if a, ok := w.engine.Store.(store.Announcer); ok {
		announced = a.Announce(ctx)
	}
	for down := false; ctx.Err() == nil; {
		began, every := time.Now(), min(w.lease/6, 5*time.Second)
		err := w.look(ctx)
		if err != nil && !down && ctx.Err() == nil {
			w.jobs.options.Logger.WarnContext(ctx, "river: jobs are not looked after", "error", err)
		}
		if down = err != nil; len(w.lost) > 0 {
			every = min(every, supplyLost)
		}
		rest := max(100*time.Millisecond, 3*time.Since(began)) // so that looks take a quarter of the time at most
		for _, until := range []<-chan struct{}{nil, announced} {
			select {
			case <-time.After(rest):
			case <-until:
			case <-ctx.Done():
			}
			rest = every - rest
		}
	}
}

func (w *Worker[T]) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	queues := make(map[string]bool) // whose workers are to be told
	failed := errors.Join(w.warn(ctx), w.rescueLost(ctx, queues))
	page, ids := []store.Info(nil), []string(nil)
	for info, err := range w.engine.List(ctx, store.Filter{Due: true, After: w.after, Limit: supplyPage}) {
		if err != nil {
			return errors.Join(failed, err)
		}
		page, ids = append(page, info), append(ids, info.ID)
	}
	if w.after = ""; len(page) == supplyPage {
		w.after = ids[supplyPage-1]
	}
	if len(page) > 0 {
		failed = errors.Join(failed, w.serve(ctx, page, river.NamedArgs{"debates": strings.Join(ids, ",")}, queues)) // ids have no commas
	}
	if len(queues) > 0 {
		failed = errors.Join(failed, w.jobs.notify(ctx, queues))
	}
	return failed
}

// warn logs once a minute which queues no client serves any more, and which others share the tables by now.
func (w *Worker[T]) warn(ctx context.Context) error {
	if time.Since(w.warned) < time.Minute {
		return nil
	}
	unserved, err := w.jobs.Unserved(ctx)
	for queue, jobs := range unserved {
		if w.unserved[queue] == 0 {
			w.jobs.options.Logger.WarnContext(ctx, "river: no client serves a queue", "queue", queue, "jobs", jobs)
		}
	}
	w.unserved, w.warned = unserved, time.Now()
	if w.alone && err == nil {
		if shared := w.jobs.checkAlone(ctx); shared != nil {
			w.jobs.options.Logger.WarnContext(ctx, "river: jobs may be lost", "error", shared)
		}
	}
	return err
}

func (w *Worker[T]) list(ctx context.Context, where string, args river.NamedArgs) ([]*rivertype.JobRow, error) {
	found, err := w.client.JobList(ctx, river.NewJobListParams().Kinds(Args{}.Kind()).First(supplyPage).Where(where, args))
	if err != nil {
		return nil, err
	}
	return found.Jobs, nil
}

// rescueLost rescues jobs that are being worked by nobody: their debates have no lease.
func (w *Worker[T]) rescueLost(ctx context.Context, queues map[string]bool) error {
	jobs, err := w.list(ctx, `state = 'running' AND attempted_at < now() - make_interval(secs => @opening) AND NOT EXISTS (
		SELECT 1 FROM debate_lease AS l WHERE l.id = args->>'id' AND l.until > extract(epoch FROM now()) * 1000000)`,
		river.NamedArgs{"opening": (w.lease / 2).Seconds()})
	before := w.lost
	w.lost = make(map[int64]time.Time)
	for _, job := range jobs {
		since, again := before[job.ID]
		if !again {
			since = time.Now()
		}
		if w.lost[job.ID] = since; time.Since(since) < supplyLost {
			continue
		}
		delete(w.lost, job.ID)
		if metadataOf(job).Cancelled != nil { // before it is over: how far it is off by this worker's clock says nothing then
			err = errors.Join(err, w.pause(ctx, debateOf(job), job.ID))
		}
		err, queues[job.Queue] = errors.Join(err, w.jobs.rescue(ctx, job)), true
	}
	return err
}

// debateOf returns the id of a job's debate.
func debateOf(job *rivertype.JobRow) string {
	var args Args
	_ = json.Unmarshal(job.EncodedArgs, &args) // no debate has the id ""
	return args.ID
}

// serve sees to the jobs of some debates that need a process.
func (w *Worker[T]) serve(ctx context.Context, page []store.Info, debates river.NamedArgs, queues map[string]bool) error {
	const theirs = `kind = 'debate' AND args->>'id' = ANY(string_to_array(@debates, ','))`
	// A job that waits by the clock of a worker, though its debate is due, waits no longer. After a failed attempt it has its back-off.
	late, failed := w.list(ctx, theirs+` AND (state = 'scheduled' OR (state = 'retryable' OR state = 'available' AND scheduled_at > now())
		AND coalesce(attempted_at + least(power(2, least(attempt, 12)), 3600) * interval '1 second' < now(), true))`, debates)
	for _, job := range late {
		_, err := w.client.JobRetry(ctx, job.ID)
		failed = errors.Join(failed, err)
	}
	jobs, err := w.list(ctx, "id IN (SELECT DISTINCT ON (args->>'id') id FROM "+w.jobs.table+" WHERE "+theirs+
		" ORDER BY args->>'id', finalized_at IS NOT NULL, id DESC)", debates)
	if err != nil {
		return errors.Join(failed, err)
	}
	last := make(map[string]*rivertype.JobRow) // of each debate the unfinished job, or else the newest
	for _, job := range jobs {
		last[debateOf(job)] = job
	}
	free := w.slots.now()
	var claimed []string
	var missing []river.InsertManyParams
	for _, info := range page {
		switch job := last[info.ID]; {
		case job != nil && free[job.Queue] > 0 && w.claims(job):
			claimed = append(claimed, strconv.FormatInt(job.ID, 10))
			queues[job.Queue] = true
			free[job.Queue]--
		case job != nil && job.State == rivertype.JobStateAvailable:
			queues[job.Queue] = true
		case job != nil && job.FinalizedAt == nil: // it is worked, or waits
		case job != nil && metadataOf(job).Cancelled != nil && job.FinalizedAt.Add(2*time.Second).After(info.LastAt):
			failed = errors.Join(failed, w.pause(ctx, info.ID, job.ID)) // it was cancelled while it waited
		default:
			opts, err := w.jobs.insertion(info)
			if failed = errors.Join(failed, err); err == nil {
				missing = append(missing, river.InsertManyParams{Args: Args{info.ID}, InsertOpts: opts})
			}
		}
	}
	if len(claimed) > 0 {
		failed = errors.Join(failed, w.jobs.claim(ctx, claimed))
	}
	if len(missing) > 0 {
		_, err = w.client.InsertMany(ctx, missing)
	}
	return errors.Join(failed, err)
}

// claims reports whether a job waits because other workers lack what its debate needs. This one may have it.
func (w *Worker[T]) claims(job *rivertype.JobRow) bool {
	if job.FinalizedAt != nil || job.State == rivertype.JobStateRunning || len(job.Errors) >= supplyFailed || w.stopping.Load() {
		return false
	}
	lacking := metadataOf(job).Lacking
	return len(lacking) > 0 && !slices.Contains(lacking, w.name)
}
