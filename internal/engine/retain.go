package engine

import (
	"context"
	"crypto/rand"
	"iter"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/session"
	"github.com/agonist-dev/debate/store"
)

// leaseToDelete is the time of the lease under which a conversation is deleted. It is long enough for a busy store.
const leaseToDelete = time.Minute

// Delete deletes a conversation; see debate.Engine.
func (l *Engine) Delete(ctx context.Context, id string) error {
	if l.host.Session(id) != nil {
		return session.StoreError(opDelete, store.ErrOpen)
	}
	owner := opDelete + "/" + rand.Text()
	if err := l.host.Store.Lease(ctx, id, owner, leaseToDelete); err != nil {
		return session.StoreError(opDelete, err)
	}
	expected := flow.ExpectedOf(ctx, id)
	err := l.host.Still(ctx, opDelete, id, expected.StartedAt)
	if err == nil && expected.Holds != nil {
		err = l.stillHolds(ctx, id, expected.Holds)
	}
	if err == nil {
		if err = l.host.Store.Delete(ctx, id); err != nil {
			err = session.StoreError(opDelete, err)
		}
	}
	if err != nil {
		_ = l.host.Store.Release(context.WithoutCancel(ctx), id, owner) // otherwise it ends by itself
		return err
	}
	l.host.Forget(id)
	return nil
}

// stillHolds asks about a conversation as it is stored, under a lease of it.
func (l *Engine) stillHolds(ctx context.Context, id string, holds func(*flow.Record) error) error {
	stored, err := l.host.Load(ctx, id)
	if err != nil {
		return err
	}
	return holds(stored.Record())
}

const opDelete = "delete"

// Prune deletes old conversations; see debate.Engine.
func (l *Engine) Prune(ctx context.Context, r store.Retention) iter.Seq2[store.Pruned, error] {
	return func(yield func(store.Pruned, error) bool) {
		others := r.Open
		r.Open = func(id string) bool { return l.host.Session(id) != nil || others != nil && others(id) }
		for gone, err := range store.Prune(ctx, l.host.Store, r) {
			if err == nil && gone.Err == nil && !r.DryRun {
				l.host.Forget(gone.ID)
			}
			if !yield(gone, err) {
				return
			}
		}
	}
}
