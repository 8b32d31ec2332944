package engine

import (
	"context"
	"iter"

	"github.com/agonist-dev/debate/store"
)

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
