package sql

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/agonist-dev/debate/store"
)

// wake calls the host's function where an append wakes a conversation; see [Options.OnWake].
type wake struct {
	call func(ctx context.Context, tx Tx, woken store.Info) error // nil: the rest is not used

	mu    sync.Mutex
	holds map[string]string // the owners of the leases that this store has acquired, by conversation
}

// concerns reports whether a step may wake its conversation. What a lease's owner appends under it wakes none, unless the
// events themselves say so. Another store may have acquired the lease, so the database has the last word.
func (w *wake) concerns(s *step) bool {
	return w.call != nil && (s.wakes || !w.held(s.id, s.by))
}

// others returns the steps of a batch that share a transaction.
func (w *wake) others(batch []*step) []*step {
	if w.call == nil {
		return batch
	}
	return slices.DeleteFunc(slices.Clone(batch), w.concerns)
}

func (w *wake) held(id, writer string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	owner, ok := w.holds[id]
	return ok && ofOwner(writer, owner)
}

// ofOwner reports whether a writer's token is one of an owner's; see [store.Store].Append.
func ofOwner(writer, owner string) bool {
	rest, ok := strings.CutPrefix(writer, owner)
	return ok && (rest == "" || rest[0] == '/')
}

// acquired notes that owner has a lease.
func (w *wake) acquired(id, owner string) {
	if w.call == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.holds == nil {
		w.holds = make(map[string]string)
	}
	w.holds[id] = owner
}

// lost notes that owner has no lease, or may soon have none.
func (w *wake) lost(id, owner string) {
	if w.call == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.holds[id] == owner {
		delete(w.holds, id)
	}
}

// wakeError is an error of the host's function. What its statements miss, or may not use, are no tables of conversations.
type wakeError struct{ err error }

func (e *wakeError) Error() string { return "OnWake: " + e.err.Error() }
func (e *wakeError) Unwrap() error { return e.err }

// writeAlone writes a step in a transaction of its own, in which the host's function is called if the step wakes its
// conversation.
func (s *Store) writeAlone(ctx context.Context, one *step) error {
	defer s.dialect.turn(ctx)()
	tx, err := s.dialect.begin(ctx, s.write)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	kept, err := s.addAndCall(ctx, standard{tx}, Tx{SQL: tx}, one)
	if err != nil || !kept {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	one.kept = true
	return nil
}

// addAndCall writes a step in a transaction, and calls the host's function there if the step wakes its conversation. It reports
// whether the step is kept if the transaction is committed.
func (s *Store) addAndCall(ctx context.Context, on statements, tx Tx, one *step) (kept bool, err error) {
	kept, err = s.dialect.add(ctx, on, one)
	if err != nil || !kept || !s.wake.concerns(one) {
		return kept, err
	}
	woken, err := s.describe(ctx, on, one.id)
	if err != nil {
		return false, err
	}
	if !woken.State.Idle() && (one.wakes || woken.Owner == "" || !ofOwner(one.by, woken.Owner)) {
		if err := s.wake.call(ctx, tx, woken); err != nil {
			return false, &wakeError{err}
		}
	}
	return true, nil
}
