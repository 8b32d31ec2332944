package debate

import (
	"context"
	"iter"

	"github.com/agonist-dev/debate/store"
)

// Prune deletes old debates from the store, with their files, as [store.Prune] does: those that are over, and on which no process
// works. A debate that is open in this engine is not deleted.
//
//	old := store.Retention{Before: time.Now().AddDate(0, 0, -30), Labels: map[string]string{"tenant": "acme"}}
//	for gone, err := range engine.Prune(ctx, old) {
//		…
//	}
func (e *Engine) Prune(ctx context.Context, r store.Retention) iter.Seq2[store.Pruned, error] {
	return func(yield func(store.Pruned, error) bool) {
		l, err := e.freeze()
		if err != nil {
			yield(store.Pruned{}, err)
			return
		}
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
