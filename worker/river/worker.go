package river

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// Config configures a worker. The zero value works on up to 100 debates of DefaultQueue at a time.
type Config struct {
	// Queues bounds how many debates of each queue the worker works on at a time. A debate that is paused, waits for a person or waits
	// longer than Far does not count. nil: 100 of DefaultQueue.
	Queues map[string]int
	// Far is the wait from which a debate is released: the worker closes it, and its job becomes due when the wait is over. 0: a minute.
	Far time.Duration
	// With is called with each session that the worker opens, on a goroutine of its own, for readers such as package otel. It returns when
	// its reader ends: ctx ends [debate.Engine].Grace after the session, and Stop waits for With. nil: nothing is called.
	With func(ctx context.Context, s *debate.Session)
	// River is the whole config of a host program that has jobs of its own in these tables: [Worker.Client] is then its only client. The
	// jobs' Schema and Logger replace empty ones. nil: the tables are for debates alone.
	River *river.Config
}

// Worker works on debates that have jobs. It is safe for concurrent use.
type Worker[T any] struct {
	jobs   *Jobs[T]
	engine *debate.Engine
	far    time.Duration
	lease  time.Duration // of the engine
	with   func(context.Context, *debate.Session)
	alone  bool          // the tables are for debates alone
	poll   time.Duration // how often all queues together are polled; 0: as River does
	client *river.Client[T]
	name   string // unique, also if a later process has the same client's ID
	slots  slots

	stopping atomic.Bool
	mu       sync.Mutex
	queues   int            // of debates
	stop     func()         // ends supply; nil: it has not begun
	running  sync.WaitGroup // supply, and readers of sessions
	// The rest belongs to supply.
	after    string              // the debate behind which the next look begins
	lost     map[int64]time.Time // jobs that nobody works, and since when
	unserved map[string]int      // jobs in queues that no client serves
	warned   time.Time           // when they were logged
}

// Worker returns a worker that opens debates with engine, whose store must be in the database of the jobs, on the driver's search path.
// No other part of the program opens debates with that engine, and Stop shuts it down. Any engine on the store submits and controls.
func (j *Jobs[T]) Worker(engine *debate.Engine, config Config) (*Worker[T], error) {
	if engine == nil || engine.Store == nil || config.Far < 0 {
		return nil, invalid("engine, Config.Far", errors.New("no store, or a time below zero"))
	}
	w, c := &Worker[T]{jobs: j, engine: engine, with: config.With, alone: config.River == nil}, *cmp.Or(config.River, &river.Config{})
	w.far, w.lease = cmp.Or(config.Far, time.Minute), cmp.Or(engine.Lease, 15*time.Second)
	if c.Schema = cmp.Or(c.Schema, j.options.Schema); c.Schema != j.options.Schema {
		return nil, invalid("Config.River.Schema", fmt.Errorf("is %s: set Options.Schema to the same", c.Schema))
	}
	c.Logger = cmp.Or(c.Logger, j.options.Logger)
	if c.FetchPollInterval == 0 && !c.PollOnly && j.driver.SupportsListener() {
		w.poll = river.FetchPollIntervalDefault
	}
	if len(config.Queues) == 0 {
		config.Queues = map[string]int{DefaultQueue: 100}
	}
	w.slots.free = maps.Clone(config.Queues)
	all := make(map[string]river.QueueConfig)
	maps.Copy(all, c.Queues)
	w.queues, c.Queues = len(config.Queues), all
	for name, debates := range config.Queues {
		if _, taken := all[name]; taken {
			return nil, invalid("Config.Queues", fmt.Errorf("queue %s is in Config.River too", name))
		}
		all[name] = w.queue(debates)
	}
	c.Workers = cmp.Or(c.Workers, river.NewWorkers())
	err := river.AddWorkerSafely[Args](c.Workers, &debateWorker[T]{Worker: w})
	if err == nil {
		w.client, err = river.NewClient(j.driver, &c)
	}
	if err != nil {
		return nil, invalid("Config", err)
	}
	w.name = w.client.ID() + "/" + rand.Text()[:8]
	return w, nil
}

// slots count how many debates more a worker could work on, by queue.
type slots struct {
	mu   sync.Mutex
	free map[string]int
}

func (s *slots) add(queue string, debates int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free[queue] += debates
}

func (s *slots) now() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.free)
}

// queue returns how a queue of debates is served.
func (w *Worker[T]) queue(debates int) river.QueueConfig {
	return river.QueueConfig{MaxWorkers: debates, FetchPollInterval: w.poll * time.Duration(w.queues)}
}

// AddQueue makes the worker serve one more queue of debates, at any time, and work on so many of them at a time. The others are polled as
// often as before.
func (w *Worker[T]) AddQueue(name string, debates int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queues++
	if err := w.client.Queues().Add(name, w.queue(debates)); err != nil {
		w.queues--
		return invalid("queue "+name, err)
	}
	w.slots.add(name, debates)
	return nil
}

// Client is the worker's client of River, which also inserts and works the jobs of [Config].River. The worker starts and stops it.
func (w *Worker[T]) Client() *river.Client[T] { return w.client }

// Start begins to work. ctx bounds the start only: the worker works until Stop. The error is that of [Jobs.Check], or of kind validation:
// the engine's store is in another database than the jobs, or others share the tables and [Config].River is not set.
func (w *Worker[T]) Start(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.jobs.Check(ctx)
	if err == nil {
		err = w.checkStore(ctx)
	}
	if err == nil && w.alone {
		err = w.jobs.checkAlone(ctx)
	}
	if err == nil {
		err = broken("start", w.client.Start(context.WithoutCancel(ctx)))
	}
	if err == nil && w.stop == nil {
		supplying, cancel := context.WithCancel(context.WithoutCancel(ctx)) //nolint:gosec // Stop calls it
		w.stop = cancel
		w.running.Go(func() { w.supply(supplying) })
	}
	return err
}

// checkStore finds out whether a lease of the engine's store is in the database of the jobs.
func (w *Worker[T]) checkStore(ctx context.Context) error {
	name := "river-" + rand.Text()
	if err := w.engine.Store.Lease(ctx, name, name, w.lease); err != nil {
		return broken("start", err)
	}
	found, err := w.jobs.query(ctx, "SELECT count(*) || ' leases' FROM debate_lease WHERE id = $1", name)
	if err = cmp.Or(err, w.engine.Store.Release(ctx, name, name)); err == nil && found == "1 leases" {
		return nil
	}
	return invalid("engine", fmt.Errorf("its tables are not on the jobs' search path: open both with one: %w", cmp.Or(err, errors.New(found))))
}

// Stop takes no more jobs, lets the calls in flight finish, leaves unfinished debates to other workers, and shuts the engine down. If ctx
// is done before, the calls are aborted, and the next worker makes them again: the error wraps that of ctx, and counts their debates.
func (w *Worker[T]) Stop(ctx context.Context) error {
	w.stopping.Store(true)
	var drain sync.WaitGroup
	var drained error
	drain.Go(func() { drained = w.engine.Shutdown(ctx) })
	stopped := w.client.Stop(ctx)
	drain.Wait()
	if stopped != nil {
		calm, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.lease)
		defer cancel()
		_ = w.client.StopAndCancel(calm) // what does not end is rescued elsewhere
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop != nil {
		w.stop()
	}
	w.running.Wait()
	if err := cmp.Or(drained, stopped); err != nil {
		return fmt.Errorf("river: stop: %w", err)
	}
	return nil
}

// debateWorker works the jobs of debates.
type debateWorker[T any] struct {
	river.WorkerDefaults[Args]
	*Worker[T]
}

// Timeout implements [river.Worker]: a job lasts as long as its debate needs a process, and River's rescuer leaves it alone.
func (*debateWorker[T]) Timeout(*river.Job[Args]) time.Duration { return -1 }

// NextRetry implements [river.Worker]. A debate in quarantine is left alone until that is over.
func (d *debateWorker[T]) NextRetry(job *river.Job[Args]) time.Time {
	wait := backOff(job.Attempt)
	if kept, ok := d.engine.Store.(store.Quarantines); ok {
		ctx, cancel := context.WithTimeout(context.Background(), d.lease)
		defer cancel()
		if q, err := kept.Quarantine(ctx, job.Args.ID); err == nil {
			wait = max(wait, time.Duration(q.Left))
		}
	}
	return time.Now().Add(later(job, wait))
}

// later returns how long a job waits by this process's clock. It adds to the later of two clocks, so that no worker hurries.
func later(job *river.Job[Args], wait time.Duration) time.Duration {
	return wait + max(0, time.Until(*job.AttemptedAt))
}

// Work implements [river.Worker]: it opens the debate, and closes it when no process needs to work on it.
func (d *debateWorker[T]) Work(ctx context.Context, job *river.Job[Args]) error {
	d.slots.add(job.Queue, -1)
	defer d.slots.add(job.Queue, 1)
	known := metadataOf(job.JobRow)
	if slices.Contains(known.Lacking, d.name) && job.AttemptedAt.Before(known.Wanted) { // both are times of the database
		return river.JobSnooze(0) // for the worker that has claimed it
	}
	next, err := d.hold(ctx, job)
	switch {
	case err == nil && next.State == flow.StateError:
		return d.fail(ctx, job.Args.ID)
	case err == nil && next.Wait > 0:
		return river.JobSnooze(later(job, next.Wait))
	case err == nil:
		return nil
	case ctx.Err() != nil: // River knows why: the job was cancelled, or is made available because River is stopped at once
		return ctx.Err()
	case errors.Is(err, flow.ErrNotFound), store.CheckID(job.Args.ID) != nil:
		return river.JobCancel(shown{err})
	case errors.Is(err, flow.ErrClosed) && d.stopping.Load(): // this worker drains
		return river.JobSnooze(0)
	case errors.Is(err, flow.ErrLeased), errors.Is(err, flow.ErrClosed): // the latter: the host program has shut the engine down
		return river.JobSnooze(later(job, d.lease))
	default:
		return errors.Join(river.MetadataSet(ctx, "debate_lacking", d.lacking(known.Lacking, err)), shown{err})
	}
}

// lacking returns the workers that lack what a debate needs, after a failure of this one. It returns nil after a failure of another kind:
// no worker claims the job then.
func (w *Worker[T]) lacking(known []string, err error) []string {
	switch {
	case !errors.Is(err, flow.ErrMissing):
		return nil
	case slices.Contains(known, w.name):
		return known
	default:
		return append(known, w.name)
	}
}

// hold keeps a debate open until it rests or its next call is far. If the job is cancelled meanwhile, hold pauses the debate, and waits for
// the calls in flight.
func (d *debateWorker[T]) hold(ctx context.Context, job *river.Job[Args]) (next flow.Next, err error) {
	s, err := d.engine.Open(ctx, job.Args.ID)
	if err == nil {
		defer d.read(ctx, s)()
		defer func() { _ = s.Close() }()
		err = d.again(ctx, s, job)
	}
	if err == nil {
		next, err = s.Rest(ctx, d.far)
	}
	if calm := context.WithoutCancel(ctx); errors.Is(context.Cause(ctx), river.ErrJobCancelledRemotely) {
		err = ctx.Err()
		if failed := d.pause(calm, job.Args.ID, job.ID); failed != nil {
			d.jobs.options.Logger.WarnContext(calm, "river: a cancelled job's debate is not paused", "id", job.Args.ID, "error", failed)
		}
		if s != nil {
			_, _ = s.Rest(calm, d.far)
		}
	}
	return next, err
}

// read lets the host program read a session, and returns what is called when that is closed.
func (w *Worker[T]) read(ctx context.Context, s *debate.Session) (closed func()) {
	if w.with == nil {
		return func() {}
	}
	reading, end := context.WithCancel(context.WithoutCancel(ctx))
	w.running.Go(func() {
		defer end()
		w.with(reading, s)
	})
	return func() { time.AfterFunc(cmp.Or(w.engine.Grace, 5*time.Second), end) } // a reader may be behind
}

// again retries or resumes the debate of a job that somebody has retried: it had failed with its debate, or was cancelled.
func (d *debateWorker[T]) again(ctx context.Context, s *debate.Session, job *river.Job[Args]) error {
	switch state := s.State(); {
	case state == flow.StateError && metadataOf(job.JobRow).Failed:
		return errors.Join(river.MetadataSet(ctx, "debate_failed", false), s.Retry(ctx))
	case state == flow.StatePaused:
		record, err := s.Record(ctx)
		if err == nil && strings.HasSuffix(record.Halted(), ": "+cancelled(job.ID)) {
			err = s.Resume(ctx)
		}
		return err
	default:
		return nil
	}
}

// cancelled is why the debate of a cancelled job is paused.
func cancelled(job int64) string { return fmt.Sprintf("job %d was cancelled in River", job) }

// pause pauses the debate of a job that somebody has cancelled. In a state that has no pause, nothing goes on either.
func (w *Worker[T]) pause(ctx context.Context, id string, job int64) error {
	err := w.engine.Control(ctx, id, flow.Pause{Drain: true, Reason: cancelled(job)})
	if refused, ok := errors.AsType[*flow.Error](err); ok && refused.Kind == provider.KindState {
		return nil
	}
	return err
}

// metadataOf returns what this package reads of a job's metadata.
func metadataOf(job *rivertype.JobRow) (found struct {
	Failed    bool       `json:"debate_failed"`       //nolint:tagliatelle // the job has ended because its debate was in the error state
	Lacking   []string   `json:"debate_lacking"`      //nolint:tagliatelle // the workers that lack what the debate needs
	Wanted    time.Time  `json:"debate_wanted"`       //nolint:tagliatelle // until when they leave the job to another one
	Cancelled *time.Time `json:"cancel_attempted_at"` //nolint:tagliatelle // River's: when somebody has cancelled the job
},
) {
	_ = json.Unmarshal(job.Metadata, &found) // what is not there is zero
	return found
}

// fail cancels the job of a debate in the error state, with its failure.
func (d *debateWorker[T]) fail(ctx context.Context, id string) error {
	record, err := d.engine.Record(ctx, id)
	if err != nil {
		return shown{err}
	}
	if record.State != flow.StateError { // somebody has retried it
		return river.JobSnooze(0)
	}
	return errors.Join(river.MetadataSet(ctx, "debate_failed", true), river.JobCancel(shown{record.Failure}))
}

// shown is an error as River's tables show it: in one line, without the secrets of others.
type shown struct{ error }

func (s shown) Error() string { return text.OneLine(redact.Foreign(s.error.Error()), 500) }
func (s shown) Unwrap() error { return s.error }
