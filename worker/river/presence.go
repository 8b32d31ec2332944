package river

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/riverqueue/river/riverdriver"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// A worker shows that it is there by a lease in the debates' store, under its name. Leases run by the store's clock. This one
// lasts longer than those of debates by the time between two renewals: once it has ended, they have ended too.

// presence is how long the lease of a worker lasts.
func (w *Worker) presence() time.Duration { return w.lease + w.lease/3 }

// attendance is what a worker does beside its jobs, from its start to its stop.
type attendance struct {
	loops  sync.WaitGroup
	cancel func()
}

// attend acquires the lease of the worker, renews it, and asks for sweeps, until leave.
func (w *Worker) attend(ctx context.Context) error {
	if err := w.engine.Store.Lease(ctx, w.name, w.name, w.presence()); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	here := &attendance{cancel: cancel}
	here.loops.Go(func() {
		w.every(ctx, w.lease/3, "the worker's presence is not renewed", func(ctx context.Context) error {
			return w.engine.Store.Lease(ctx, w.name, w.name, w.presence())
		})
	})
	here.loops.Go(func() { w.every(ctx, min(w.lease, slice), "the worker's jobs are not renewed", w.renewJobs) })
	here.loops.Go(func() { w.every(ctx, w.config.Sweep, "no sweep is asked for", w.askSweep) })
	w.mu.Lock()
	defer w.mu.Unlock()
	w.here = here
	return nil
}

// checkDatabase returns an error of kind validation if the lease that the worker has acquired in the engine's store is not in the
// database of the jobs.
func (w *Worker) checkDatabase(ctx context.Context) error {
	var n int
	err := w.jobs.db.QueryRowContext(ctx, "SELECT count(*) FROM debate_lease WHERE id = $1", w.name).Scan(&n)
	if err == nil && n == 1 {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("river: start: %w", ctx.Err())
	}
	why := errors.New("its store is not in the database of the jobs: open both with the same one")
	if err != nil {
		why = fmt.Errorf("%w (%w)", why, err)
	}
	return &flow.Error{Kind: provider.KindValidation, Op: "river worker", Field: "engine", Err: why}
}

// slice is how old a job that is worked gets at most, for River and for other programs on its tables.
const slice = 20 * time.Second

// renewJobs makes the jobs that this worker works young again: to River's tables they are slices, each taken anew. A rescuer goes by
// the time at which a job was taken. That of another program on the tables, which does not know this kind of job, discards what is
// older than its RescueStuckJobsAfter.
func (w *Worker) renewJobs(ctx context.Context) error {
	var ids []string
	w.worked.Range(func(id, _ any) bool {
		ids = append(ids, strconv.FormatInt(id.(int64), 10)) //nolint:forcetypeassert // only Work stores
		return true
	})
	if len(ids) == 0 {
		return nil
	}
	now := "now()"
	if w.jobs.driver.DatabaseName() == riverdriver.DatabaseNameSQLite {
		now = "datetime('now', 'subsec')" // as River writes it
	}
	_, err := w.jobs.db.ExecContext(ctx, "UPDATE "+w.jobs.table()+" SET attempted_at = "+now+ //nolint:gosec // no input
		" WHERE state = 'running' AND id IN ("+strings.Join(ids, ", ")+")")
	return err
}

// every does something at once and then again and again, until ctx is done. Each time takes at most as long as the interval.
func (w *Worker) every(ctx context.Context, interval time.Duration, failure string, do func(context.Context) error) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		bounded, cancel := context.WithTimeout(ctx, interval)
		if err := do(bounded); err != nil && ctx.Err() == nil {
			w.jobs.options.Logger.WarnContext(ctx, "river: "+failure, "error", err)
		}
		cancel()
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// leave ends what attend has begun, and releases the lease.
func (w *Worker) leave() {
	w.mu.Lock()
	here := w.here
	w.here = nil
	w.mu.Unlock()
	if here == nil {
		return
	}
	here.cancel()
	here.loops.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), w.lease)
	defer cancel()
	_ = w.engine.Store.Release(ctx, w.name, w.name) // without it the lease ends by itself
}

// present reports whether a worker is there.
func (w *Worker) present(ctx context.Context, name string) (bool, error) {
	if name == w.name {
		return true, nil
	}
	err := w.engine.Store.Lease(ctx, name, w.name, time.Second)
	if errors.Is(err, flow.ErrLeased) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, w.engine.Store.Release(ctx, name, w.name)
}
