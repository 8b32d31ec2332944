package river

import (
	"context"
	"errors"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// A worker shows that it is there by a lease in the debates' store, under its name. Leases run by the store's clock. This one
// lasts longer than those of debates by the time between two renewals: once it has ended, they have ended too.

// presence is how long the lease of a worker lasts.
func (w *Worker) presence() time.Duration { return w.lease + w.lease/3 }

// beginPresence acquires the lease, and renews it until endPresence.
func (w *Worker) beginPresence(ctx context.Context) error {
	if err := w.engine.Store.Lease(ctx, w.name, w.name, w.presence()); err != nil {
		return err
	}
	attending, end := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	w.mu.Lock()
	w.attend, w.attended = end, ended
	w.mu.Unlock()
	go func() {
		defer close(ended)
		ticker := time.NewTicker(w.lease / 3)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
			case <-attending.Done():
				return
			}
			bounded, cancel := context.WithTimeout(attending, w.lease/3)
			if err := w.engine.Store.Lease(bounded, w.name, w.name, w.presence()); err != nil && attending.Err() == nil {
				w.jobs.options.Logger.WarnContext(attending, "river: the worker's presence is not renewed", "error", err)
			}
			cancel()
		}
	}()
	return nil
}

// endPresence releases the lease.
func (w *Worker) endPresence() {
	w.mu.Lock()
	end, ended := w.attend, w.attended
	w.attend = nil
	w.mu.Unlock()
	if end == nil {
		return
	}
	end()
	<-ended
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
