package river

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/agonist-dev/debate/flow"
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
	here.loops.Go(func() { w.every(ctx, w.config.Sweep, "no sweep is asked for", w.askSweep) })
	w.mu.Lock()
	defer w.mu.Unlock()
	w.here = here
	return nil
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
