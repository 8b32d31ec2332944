package river

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Config configures a worker. The zero value works on up to 100 debates of DefaultQueue at a time.
type Config struct {
	// Queues are the queues that the worker serves, and how many debates of each it works on at a time. A debate that is paused,
	// waits for a person or waits longer than Far does not count. nil: 100 of DefaultQueue. [debate.Engine.MaxCalls] bounds the calls.
	Queues map[string]int
	// Places is how many debates the worker has at a time over all queues. If it is less than the sum of Queues, queues with waiting
	// jobs get equal parts, and what a queue does not need goes to the others. A place that becomes free may stand empty until its
	// queue fetches, at most River's FetchPollInterval (1 s by default). 0: only Queues bounds the debates. Otherwise River's driver
	// is wrapped, which hides what it offers beyond River's own (a plugin of River Pro): with such a driver, set only Queues.
	Places int
	// Far is the wait from which a debate is released: the worker closes it, and its job becomes due when the wait is over.
	// 0: a minute.
	Far time.Duration
	// Sweep is how often one of all workers looks for debates without a job, and for jobs whose worker has disappeared. A debate
	// whose worker is killed stands still for four thirds of Engine.Lease and this time. It is the same in all workers, and
	// at least a second. 0: 10 s.
	Sweep time.Duration
	// River holds further settings of River's client, such as how often it polls, and other workers and queues of the host
	// program. The queues and workers of debates are added. ID, Schema and Logger are set by this
	// package. nil: River's defaults.
	River *river.Config
}

// Worker works on debates that have jobs. It is safe for concurrent use.
type Worker struct {
	jobs   *Jobs
	engine *debate.Engine
	config Config
	lease  time.Duration // of the engine
	name   string        // of River's client
	client *river.Client[*sql.Tx]
	places *places // nil: each queue has its own
	counts counts
	lacks  atomic.Int64 // jobs in a row that this engine could not serve
	worked sync.Map     // the ids of the jobs that are worked

	mu       sync.Mutex
	here     *attendance   // nil: the worker has not started, or has stopped
	stopping chan struct{} // closed when the worker is to stop
	stop     sync.Once
}

// defaultLease is that of an engine without a Lease.
const defaultLease = 15 * time.Second

// Worker returns a worker that opens debates with engine, whose store must be that of the jobs. The engine belongs to the
// worker: no other part of the program opens debates with it, and Stop shuts it down. To submit debates and give them
// controls, use it or another engine on the same store.
func (j *Jobs) Worker(engine *debate.Engine, config Config) (*Worker, error) {
	wrong := func(field string, err error) (*Worker, error) {
		return nil, &flow.Error{Kind: provider.KindValidation, Op: "river worker", Field: field, Err: err}
	}
	if engine == nil || engine.Store == nil {
		return wrong("engine", errors.New("has no store"))
	}
	config.Far = cmp.Or(config.Far, time.Minute)
	config.Sweep = cmp.Or(config.Sweep, 10*time.Second)
	if len(config.Queues) == 0 {
		config.Queues = map[string]int{DefaultQueue: 100}
	}
	if config.Places < 0 {
		return wrong("Places", errors.New("is negative"))
	}
	if config.Far < 0 || config.Sweep < time.Second {
		return wrong("Far, Sweep", errors.New("a Far below zero, or a Sweep below a second"))
	}
	w := &Worker{
		jobs: j, engine: engine, config: config, lease: cmp.Or(engine.Lease, defaultLease), name: "debate-" + rand.Text(),
		stopping: make(chan struct{}),
	}
	settings, err := w.settings()
	if err != nil {
		return wrong("River", err)
	}
	driver := j.driver
	if config.Places > 0 {
		w.places = newPlaces(config.Places, config.Queues, cmp.Or(settings.FetchPollInterval, river.FetchPollIntervalDefault))
		driver = sharing{j.driver, w.places, j.waits}
	}
	if w.client, err = river.NewClient(driver, settings); err != nil {
		return wrong("River", err)
	}
	return w, nil
}

// settings returns the settings of River's client.
func (w *Worker) settings() (*river.Config, error) {
	var c river.Config
	if w.config.River != nil {
		c = *w.config.River
	}
	c.ID, c.Schema, c.Logger = w.name, w.jobs.options.Schema, w.jobs.options.Logger
	queues := maps.Clone(c.Queues)
	if queues == nil {
		queues = make(map[string]river.QueueConfig)
	}
	for name, debates := range w.config.Queues {
		if _, taken := queues[name]; taken || name == sweepQueue {
			return nil, fmt.Errorf("queue %s is in use", name)
		}
		queues[name] = river.QueueConfig{MaxWorkers: debates}
	}
	queues[sweepQueue] = river.QueueConfig{MaxWorkers: 1}
	c.Queues = queues
	if c.Workers == nil {
		c.Workers = river.NewWorkers()
	}
	if err := river.AddWorkerSafely(c.Workers, &debateWorker{worker: w}); err != nil {
		return nil, err
	}
	if err := river.AddWorkerSafely(c.Workers, &sweepWorker{worker: w}); err != nil {
		return nil, err
	}
	return &c, nil
}

// Start begins to work. ctx bounds the start only: the worker works until Stop. If River's tables are missing or of an older
// version, the error is of kind store, as with [Jobs.Check]. If the engine's store is in another database than the jobs, the error
// is of kind validation.
func (w *Worker) Start(ctx context.Context) error {
	if err := w.jobs.Check(ctx); err != nil {
		return err
	}
	if err := w.attend(ctx); err != nil {
		return fmt.Errorf("river: start: %w", err)
	}
	if err := w.checkDatabase(ctx); err != nil {
		w.leave()
		return err
	}
	if err := w.client.Start(context.WithoutCancel(ctx)); err != nil {
		w.leave()
		return fmt.Errorf("river: start: %w", err)
	}
	return nil
}

// Stop takes no more jobs, lets the calls in flight finish, makes the jobs of unfinished debates due for other workers, and
// shuts the engine down. If ctx is done before, the calls are aborted, count as broken off and are made again by the next worker.
// Then Stop returns one error that wraps that of ctx, and counts the debates that had not finished.
func (w *Worker) Stop(ctx context.Context) error {
	w.stop.Do(func() { close(w.stopping) })
	defer w.leave()
	var both sync.WaitGroup
	var drained, stopped error
	both.Go(func() { drained = w.engine.Shutdown(ctx) })
	both.Go(func() { stopped = w.client.Stop(ctx) })
	both.Wait()
	if stopped != nil {
		calm, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.lease)
		defer cancel()
		_ = w.client.StopAndCancel(calm)
	}
	switch {
	case drained != nil:
		return fmt.Errorf("river: stop: %w", drained)
	case stopped != nil:
		return fmt.Errorf("river: stop: jobs were still being worked: %w", stopped)
	default:
		return nil
	}
}

// Name is the name under which River's tables and leases know this worker.
func (w *Worker) Name() string { return w.name }
